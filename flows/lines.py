"""How each stage is worked: how many lanes, and how much is claimed at once."""

from models.profile import Profile
from models.stage import Stage
from tasks.drain import Line
from tasks.load import load_batch
from tasks.ocr import ocr_batch
from tasks.preprocess import preprocess_batch
from tasks.split import split_batch

# Two lanes overlap: while one commits, the other keeps the workers busy.
SPLIT = [
    Line(Stage.SPLIT, split_batch, limit=8, lanes=2),
    Line(Stage.PREPROCESS, preprocess_batch, limit=32, lanes=2),
]
LOAD = [Line(Stage.LOAD, load_batch, limit=16)]


def ocr_lines(profile: Profile) -> list[Line]:
    """OCR in the profile's batches."""
    return [Line(Stage.OCR, ocr_batch, limit=profile.batch_pages, lanes=2)]
