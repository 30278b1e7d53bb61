"""The OCR engine: it loads its weights and reads a small picture made here."""

import hashlib
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from cli.doctor.result import Diagnosis, fail, ok, warn
from models.engine import OcrRequest
from models.errors import PagemillError
from models.geometry import Transform
from models.page import PageImage
from models.profile import Profile
from models.settings import Settings
from tasks.work.custom import find_profile
from tasks.work.engines import open_engine, servers_for

WORDS = "hello pagemill"
_SIZE = (480, 120)
_DPI = 144
_PATIENCE_S = 120.0


def check_engine(settings: Settings) -> Diagnosis:
    """The engine of the default profile reads the words of a picture."""
    profile = find_profile(settings.profile, settings)
    try:
        text, seconds = _read(profile, settings)
    except PagemillError as error:
        return fail(
            "OCR engine", f"{profile.name}: {error.message} ({error.code})", "See 'pagemill profiles'."
        )
    found = f"{profile.name} read {text!r} in {seconds:.2f} s"
    if "".join(text.split()).lower() != "".join(WORDS.split()):
        return warn(
            "OCR engine", found, f"The picture says '{WORDS}'. Install pagemill again if texts are wrong."
        )
    return ok("OCR engine", found)


def draw(path: Path) -> PageImage:
    """Draw the words into a PNG at `path`."""
    image = Image.new("RGB", _SIZE, "white")
    ImageDraw.Draw(image).text((30, 30), WORDS, fill="black", font=ImageFont.load_default(48))
    image.save(path)
    scale = Transform.scale(72 / _DPI, 72 / _DPI)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return PageImage(digest, ".png", *_SIZE, transform=scale, ink=0.05, is_blank=False)


def _read(profile: Profile, settings: Settings) -> tuple[str, float]:
    with tempfile.TemporaryDirectory(prefix="pagemill-doctor-") as folder:
        path = Path(folder) / "words.png"
        image = draw(path)
        engine = open_engine(profile, 1, servers_for(profile, settings))
        try:
            width, height = (side * 72 / _DPI for side in _SIZE)
            reading = engine.submit(OcrRequest(image, path, width, height, profile.recipe())).result(
                _PATIENCE_S
            )
        finally:
            engine.close()
    return reading.text.strip(), reading.seconds
