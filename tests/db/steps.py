"""The stages as tests take them: real rows, made-up pages."""

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa

from db import claims, documents, editions, pages, readings, runs, tables
from db.engine import Database
from models.chunk import Chunk
from models.claim import Claim
from models.document import DocumentFacts, IntakeFile, MediaType, SourceFile
from models.geometry import Box, Transform
from models.intake import Registered
from models.page import PageFacts, PageImage, Word
from models.reading import Block, BlockType, Reading, ReadingSource
from models.recipe import Recipe
from models.stage import Stage
from models.verdict import Finding, Severity, Verdict
from models.work import ChunkVectors, Loaded, PageResult, PreparedPage

RECIPE = Recipe(revision="1")
OTHER_RECIPE = Recipe(revision="2")
OWNER = "host:1:1:a"


def sha(content: bytes | str) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()


def intake(uri: str, content: str = "one", rejection: str | None = None) -> IntakeFile:
    kind = None if rejection else MediaType.PDF
    return IntakeFile(SourceFile(uri, len(content), 1), sha(content), kind, rejection, rejection)


def register(
    database: Database, *files: IntakeFile, recipe: Recipe = RECIPE, has_passwords: bool = False
) -> Registered:
    def work(connection: sa.Connection) -> Registered:
        run_id = runs.start(connection, "ingest", recipe, {})
        recipe_id = runs.recipe_id(connection, recipe)
        return documents.register(connection, run_id, recipe_id, files, has_passwords=has_passwords)

    return database.run(work)


def lease(database: Database, stage: Stage, limit: int = 100, owner: str = OWNER) -> list[Claim]:
    return database.run(lambda conn: claims.claim(conn, stage, limit, owner, 60.0))


def pass_time(database: Database, seconds: float) -> None:
    """As if so much time had passed for delays and leases, on a machine of any speed."""
    t, passed = tables.claim, sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    until = {"not_before": t.c.not_before - passed, "leased_until": t.c.leased_until - passed}
    database.run(lambda conn: conn.execute(sa.update(t).values(until)))


def page(page_no: int, *words: str) -> PageFacts:
    boxes = [Word(word, Box(10.0 * at, 20, 10.0 * at + 9, 30)) for at, word in enumerate(words)]
    return PageFacts(page_no, 595.0, 842.0, 90, tuple(boxes), ("box-repaired",))


def split(database: Database, page_count: int = 2, facts: DocumentFacts | None = None) -> list[Claim]:
    """Split all that is ready to be; says which claims."""
    leased = lease(database, Stage.SPLIT)

    def work(connection: sa.Connection) -> None:
        for claim in leased:
            pages.save_pages(connection, claim, [page(no, "word") for no in range(1, page_count + 1)])
            pages.finish_split(connection, claim, facts or DocumentFacts(page_count))

    database.run(work)
    return leased


def image(name: str, *, is_blank: bool = False) -> PageImage:
    ink = 0.0 if is_blank else 0.1
    return PageImage(
        sha256=sha(name),
        suffix=".jpg",
        width_px=1000,
        height_px=1540,
        transform=Transform.scale(0.6, 0.55),
        ink=ink,
        is_blank=is_blank,
        notes=("downscaled",),
        turn=90,
        skew=-1.25,
        x_height_px=9.5,
        reason="legible-layer",
        tokens_saved=420,
    )


def prepare(database: Database, *, recipe: Recipe = RECIPE, blank: Sequence[int] = ()) -> list[Claim]:
    """Prepare all pages that are ready; those numbered in `blank` are. Equal contents give equal pictures."""
    leased = lease(database, Stage.PREPROCESS)
    prepared = [
        PreparedPage(
            claim,
            recipe.preprocess_key,
            image(f"{claim.document_id}-{claim.page_no}", is_blank=claim.page_no in blank),
        )
        for claim in leased
    ]
    database.run(lambda conn: pages.save_images(conn, prepared))
    return leased


def reading(text: str = "A page.", **changes: object) -> Reading:
    block = Block(BlockType.PARAGRAPH, text, Box(1.5, 2, 3, 4), confidence=0.9)
    values = {"source": ReadingSource.OCR, "text": text, "blocks": (block,), "seconds": 2.0}
    return Reading(**values | changes)  # type: ignore[arg-type]


def result(claim: Claim, text: str = "A page.", verdict: Verdict = Verdict.GOOD) -> PageResult:
    findings = (Finding("truncated", Severity.ERROR, "Cut off.", {"tokens": 3}),) * (verdict is Verdict.BAD)
    picture = sha(f"{claim.document_id}-{claim.page_no}")
    return PageResult(claim, reading(text), verdict, findings, picture)


def read(database: Database, text: str = "A page.", bad: Sequence[int] = ()) -> list[Claim]:
    """Read all pages that are ready; those numbered in `bad` badly."""
    leased = lease(database, Stage.OCR)
    results = [result(claim, text, Verdict.BAD if claim.page_no in bad else Verdict.GOOD) for claim in leased]
    database.run(lambda conn: readings.save(conn, results))
    return leased


def chunk(text: str, ordinal: int = 0, *, headings: tuple[str, ...] = (), kind: str = "text") -> Chunk:
    return Chunk(ordinal, text, headings, (1,), (), kind)


def load(
    database: Database, *texts: str, chunks: Sequence[Chunk] = (), vectors: ChunkVectors | None = None
) -> list[Loaded | None]:
    """Load all documents that are ready, each with these chunks."""
    made = chunks or [chunk(text, ordinal) for ordinal, text in enumerate(texts)]

    def work(connection: sa.Connection, claim: Claim) -> Loaded | None:
        run_id = runs.start(connection, "load", RECIPE, {})
        shown = editions.to_load(connection, claim)
        return editions.load(connection, claim, run_id, shown, made, vectors=vectors)

    leased = lease(database, Stage.LOAD)
    return [database.run(lambda conn, claim=claim: work(conn, claim)) for claim in leased]  # type: ignore[misc]


def ingest(database: Database, uri: str, content: str, *texts: str, page_count: int = 1) -> int:
    """One file from its name to the knowledge base; its document's id."""
    registered = register(database, intake(uri, content))
    split(database, page_count)
    prepare(database)
    read(database)
    load(database, *texts)
    return registered.documents[0]


def count(database: Database, table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
    query = sa.select(sa.func.count()).select_from(table).where(*where)
    return database.run(lambda conn: int(conn.execute(query).scalar_one()))
