"""Documents, pages, runs and figures as commands get them from the database, made in a line."""

import datetime as dt
from typing import Any

from cli.views import DocumentView
from models.chunk import ChunkBox
from models.document import Document, DocumentStatus, MediaType
from models.geometry import Box
from models.progress import Progress, RecentFailure, StageProgress
from models.reading import Block, BlockType, ReadingSource
from models.report import PageReport
from models.run import Run
from models.search import Hit
from models.stage import Outcome, Stage
from models.summary import DocumentSummary, RunSummary
from models.timing import TimingReport, TimingRow
from models.verdict import Verdict

SHA = "ab12cd34" * 8
NOON = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def document(**facts: Any) -> Document:
    known: dict[str, Any] = {
        "id": 7,
        "sha256": SHA,
        "media_type": MediaType.PDF,
        "size": 12_345,
        "status": DocumentStatus.COMPLETE,
        "page_count": 1,
        "sources": ("/scans/pumps.pdf",),
    }
    return Document(**known | facts)


def page(number: int = 1, text: str = "Hello", *blocks: Block, **facts: Any) -> PageReport:
    known: dict[str, Any] = {
        "page_no": number,
        "width_pt": 595.0,
        "height_pt": 842.0,
        "rotation": 0,
        "verdict": Verdict.GOOD,
        "code": None,
        "message": None,
        "source": ReadingSource.OCR,
        "engine": "tiny 1",
        "seconds": 0.5,
        "text": text,
        "blocks": blocks,
    }
    return PageReport(**known | facts)


def bad_page(number: int, code: str = "render-timeout", message: str = "It took too long.") -> PageReport:
    return page(number, "", verdict=Verdict.BAD, code=code, message=message, source=None)


def blank_page(number: int) -> PageReport:
    return page(number, "", verdict=Verdict.BLANK, source=ReadingSource.NONE)


def unread_page(number: int) -> PageReport:
    return page(number, "", verdict=None, source=None)


def view(*pages: PageReport, **facts: Any) -> DocumentView:
    return DocumentView(document(page_count=len(pages), **facts), "ppocr", pages)


def block(kind: BlockType, text: str, **facts: Any) -> Block:
    return Block(kind, text, **{"box": Box(72, 96, 200, 110)} | facts)


def hit(snippet: str = "the main pump", *highlights: tuple[int, int], **facts: Any) -> Hit:
    known: dict[str, Any] = {
        "chunk_id": 1,
        "document_id": 7,
        "sha256": SHA,
        "title": "",
        "source": "/scans/pumps.pdf",
        "kind": "text",
        "pages": (3,),
        "boxes": (ChunkBox(3, Box(72.4, 96, 300, 120.6)),),
        "headings": (),
        "score": 0.03,
        "text_rank": 1,
        "vector_rank": None,
    }
    return Hit(**known | facts, snippet=snippet, highlights=highlights)


def timing_row(key: str, seconds: float = 1.0, share: float = 1.0, **facts: Any) -> TimingRow:
    known: dict[str, Any] = {
        "documents": 1,
        "pages": 10,
        "cached": 0,
        "page_p50_s": 0.1,
        "page_p95_s": 0.2,
        "waited_p50_s": 0.0,
        "wall_s": 5.0,
        "workers": 1,
        "retries": 0,
    }
    return TimingRow(key=key, seconds=seconds, share=share, **known | facts)


def timing_report(*rows: TimingRow, by: str = "stage", limiting: Stage | None = Stage.OCR) -> TimingReport:
    return TimingReport(by, rows, sum(row.seconds for row in rows), 5.0, limiting)


def progress(
    split: tuple[int, int] = (0, 0), ocr: tuple[int, int] = (0, 0), *failures: RecentFailure, **facts: Any
) -> Progress:
    """`split` and `ocr` are (done, total)."""
    failed = sum(one.stage is Stage.OCR for one in failures)
    stages = (
        StageProgress(Stage.SPLIT, split[1], split[0], 0),
        StageProgress(Stage.OCR, ocr[1], ocr[0], failed),
    )
    known: dict[str, Any] = {"documents": split[1], "refused": 0, "problems": 0}
    return Progress(**known | facts, stages=stages, failures=failures)


def failure(claim_id: int = 1, **facts: Any) -> RecentFailure:
    known: dict[str, Any] = {
        "document_id": 7,
        "name": "/scans/pumps.pdf",
        "page_no": 3,
        "stage": Stage.OCR,
        "code": "ocr-timeout",
        "message": "It took longer than 120 s.",
    }
    return RecentFailure(claim_id, **known | facts)


def document_summary(**facts: Any) -> DocumentSummary:
    known: dict[str, Any] = {
        "id": 7,
        "sha256": SHA,
        "name": "/scans/pumps.pdf",
        "title": "",
        "seen_as": "new",
        "status": DocumentStatus.COMPLETE,
        "page_count": 2,
        "verdicts": {Verdict.GOOD: 2},
        "seconds": 1.5,
        "code": None,
        "message": None,
    }
    return DocumentSummary(**known | facts)


def run_summary(*documents: DocumentSummary, **facts: Any) -> RunSummary:
    ended = NOON + dt.timedelta(seconds=75)
    run = Run(1, "ingest", 1, NOON, ended, Outcome.OK, "host", 42, None, {})
    known: dict[str, Any] = {"problems": (), "pages_read": 2}
    return RunSummary(run=run, documents=documents, **known | facts)
