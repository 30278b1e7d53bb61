"""How each stage is worked: how many lanes, and how much is claimed at once."""

from models.profile import Profile
from models.stage import Stage
from tasks.drain import Lane, Line
from tasks.gate import Gate
from tasks.load import load_batch
from tasks.ocr import OcrLane
from tasks.policies import flow_run_context
from tasks.preprocess import preprocess_batch
from tasks.revalidate import revalidate_batch
from tasks.span import Span
from tasks.split import split_batch

_RECORDED = 16
"""With a Prefect server a batch is a task run of 17 rows and 30 ms: then batches are so much larger."""

# Two lanes overlap: while one commits, the other keeps the workers busy.
_LANES = 2

_WORTH, _GATHER_S = 256, 30.0
"""Pages that are worth a task run, and how long to wait for so many while documents are being split."""

_SPAN = 1_024
"""Documents or pages of one task run, for stages whose work trickles in."""


def split_lines() -> list[Lane]:
    """Documents become pages, pages become page images."""
    return [
        Line(Stage.SPLIT, split_batch, _at_once(8), _LANES),
        # The first pages are prepared in small batches, so that reading begins soon. No batch is larger than
        # a task run is worth: what one machine has claimed another cannot do.
        Line(
            Stage.PREPROCESS,
            preprocess_batch,
            min(_at_once(32), _WORTH),
            _LANES,
            first=_at_once(1),
            gate=_gate(),
        ),
    ]


def ocr_lines(profile: Profile) -> list[Lane]:
    """Page images become readings; one lane keeps the engine full, whatever batches they came in."""
    return [OcrLane(_at_once(profile.batch_pages))]


def load_lines() -> list[Lane]:
    """Readings become passages in the knowledge base, judged anew where a backfill asks for that."""
    return [
        Span(Line(Stage.VALIDATE, revalidate_batch, _at_once(16)), _SPAN),
        Span(Line(Stage.LOAD, load_batch, 4, _LANES), _SPAN),
    ]


def _gate() -> Gate | None:
    """With a Prefect server: pages are drawn sooner than documents are split, and come a few at a time."""
    return Gate(Stage.PREPROCESS, Stage.SPLIT, _WORTH, _GATHER_S) if flow_run_context() else None


def _at_once(claims: int) -> int:
    return claims * _RECORDED if flow_run_context() else claims
