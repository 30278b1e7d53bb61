"""Pages in columns, read by regions by a real vLLM and a model that reads."""

from pathlib import Path

from bench.region_sheets import columns
from db.engine import Database
from db.search import search
from models.region import RegionKind
from tasks.work.metrics import cer
from tests import factories
from tests.vllm.profiles import profile_of
from tests.vllm.real import RealVllm
from tests.vllm.test_drain import PLAIN, ingest, reads, yard_of


@reads
def test_two_columns_are_read_one_after_the_other(glm: RealVllm, database: Database, tmp_path: Path) -> None:
    profile = profile_of(glm, PLAIN, regions={RegionKind.TEXT: "text"})
    recipe = {"long_edge_px": 1_754, "max_pixels": 2_200_000}
    yard = yard_of(database, tmp_path, profile.model_copy(update=recipe))
    page = columns(11)
    told = page.text
    factories.write(yard.inbox / "columns.pdf", factories.scan_pdf(page.picture, quality=92))
    ingest(yard, glm, "regions=layout")
    (row,) = yard.rows("reading")
    assert cer(told, row.text) < 0.02
    assert row.finish_reason == "stop"
    assert len({block.box for block in row.blocks}) == 7
    title, *_, last = told.splitlines()
    for words in (title, last):
        assert database.run(lambda conn, words=words: search(conn, f'"{words}"')), words
