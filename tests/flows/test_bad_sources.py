"""Files that vanish, move, double, hide, forbid or have odd names; two scans at once."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from db.search import search
from models.document import DocumentStatus
from models.search import Hit
from models.stage import Stage
from tasks.preprocess import preprocess_batch
from tasks.register import register_roots
from tasks.split import split_batch
from tests import factories
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard, saying
from tests.permissions import as_nobody

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow

_RUN = """
import sys
from pathlib import Path
from db.engine import Database
from tasks.work.engines.fake import Delayed, FakeEngine, said
from tests.flows.yard import Yard
yard = Yard(Database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
print(len(yard.ingest(FakeEngine(default=Delayed(0.1, said("Words on paper")))).requests))
"""


def _problems(yard: Yard) -> dict[str, str]:
    return {Path(row.uri).name: row.code for row in yard.rows("scan_problem")}


def _search(yard: Yard, query: str) -> tuple[Hit, ...]:
    return yard.database.run(lambda conn: search(conn, query))


def test_a_file_that_vanishes_before_it_is_opened_is_gone_and_comes_back_with_the_file(yard: Yard) -> None:
    data = factories.pdf("ONE")
    factories.write(yard.inbox / "a.pdf", data)
    factories.write(yard.inbox / "b.pdf", factories.pdf("stays"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.close()
    (yard.inbox / "a.pdf").unlink()
    yard.ingest()
    gone = yard.document("a.pdf")
    assert (gone.status, gone.code) == (DocumentStatus.FAILED, "source-gone")
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE
    factories.write(yard.inbox / "a.pdf", data)
    yard.ingest()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_of_two_places_of_a_content_one_may_vanish_while_it_is_worked_on(yard: Yard) -> None:
    data = factories.pdf("ONE")
    for name in ("a.pdf", "b.pdf"):
        factories.write(yard.inbox / name, data)
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    (yard.inbox / "a.pdf").unlink()
    split_batch(mill, mill.claim(Stage.SPLIT, 1))
    preprocess_batch(mill, mill.claim(Stage.PREPROCESS, 1))
    mill.close()
    assert [(row.stage, row.status) for row in yard.rows("claim", page_no=1)] == [("ocr", "ready")]


def test_a_content_taken_away_and_brought_back_is_current_again_without_reading(yard: Yard) -> None:
    data = factories.pdf("ONE")
    factories.write(yard.inbox / "a.pdf", data)
    yard.ingest()
    factories.write(yard.inbox / "a.pdf", factories.pdf("OTHER"))
    yard.ingest()
    factories.write(yard.inbox / "a.pdf", data)
    assert yard.ingest().requests == []
    shown = [row.sha256 for row in yard.rows("document") if row.edition_id]
    assert shown == [yard.document("a.pdf").sha256]


def test_a_file_that_is_deleted_and_comes_back_is_current_again_without_reading(yard: Yard) -> None:
    data = factories.pdf("ONE")
    factories.write(yard.inbox / "a.pdf", data)
    factories.write(yard.inbox / "b.pdf", factories.pdf("stays"))
    yard.ingest()
    (yard.inbox / "a.pdf").unlink()
    assert yard.ingest().requests == []
    gone = yard.document("a.pdf")
    assert gone.gone == gone.sources == (str(yard.inbox / "a.pdf"),)
    assert (gone.status, bool(gone.edition_id)) == (DocumentStatus.COMPLETE, True)
    factories.write(yard.inbox / "a.pdf", data)
    assert yard.ingest().requests == []
    assert yard.document("a.pdf").gone == ()


def test_a_renamed_file_costs_no_reading_and_its_old_name_is_gone(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    (yard.inbox / "sub").mkdir()
    (yard.inbox / "a.pdf").rename(yard.inbox / "sub" / "b.pdf")
    assert yard.ingest().requests == []
    document = yard.document("sub/b.pdf")
    assert document.sources == (str(yard.inbox / "sub" / "b.pdf"), str(yard.inbox / "a.pdf"))
    assert document.gone == (str(yard.inbox / "a.pdf"),)
    assert len(yard.rows("document")) == 1


def test_the_old_content_stays_searchable_until_the_new_is_loaded_and_no_longer(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor"))
    yard.ingest(LayerEngine())
    factories.write(yard.inbox / "a.pdf", factories.pdf("rudder"))
    yard.scan()
    assert [len(_search(yard, word)) for word in ("anchor", "rudder")] == [1, 0]
    assert yard.document("a.pdf").status is DocumentStatus.PENDING
    yard.ingest(LayerEngine())
    assert [len(_search(yard, word)) for word in ("anchor", "rudder")] == [0, 1]
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_a_renamed_folder_costs_no_reading(yard: Yard) -> None:
    for number in range(3):
        factories.write(yard.inbox / "old" / f"{number}.pdf", factories.pdf(str(number)))
    yard.ingest()
    (yard.inbox / "old").rename(yard.inbox / "new")
    assert yard.ingest().requests == []
    assert yard.document("new/2.pdf").status is DocumentStatus.COMPLETE
    assert len(yard.rows("document")) == 3


def test_two_scans_of_one_folder_at_once_read_everything_once(yard: Yard, postgres: str) -> None:
    for number in range(8):
        data = factories.pdf(f"Document {number}", f"Its second page, {number}")
        factories.write(yard.inbox / f"{number}.pdf", data)
        factories.write(yard.inbox / f"copy of {number}.pdf", data)
    command = [sys.executable, "-c", _RUN, postgres, str(yard.home), str(yard.inbox)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    requests = [int(run.communicate(timeout=300)[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert sum(requests) == 16
    assert {row.status for row in yard.rows("document")} == {"complete"}
    assert (len(yard.rows("document")), len(yard.rows("source"))) == (8, 16)
    assert (len(yard.rows("reading")), len(yard.rows("edition"))) == (16, 8)


def test_what_the_system_keeps_for_itself_is_passed_over_and_counted(yard: Yard) -> None:
    for name in ("._x.pdf", ".DS_Store", "Thumbs.db", "~$a.docx", "b.pdf.part"):
        factories.write(yard.inbox / name, bytes(4096))
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    assert Counter(_problems(yard).values()) == {
        "ignored-hidden": 2,
        "ignored-system": 1,
        "ignored-temporary": 2,
    }
    assert len(yard.rows("document")) == 1


@pytest.mark.parametrize(
    "name",
    [
        b"n" * 251 + b".pdf",
        b"two\nlines.pdf",
        b"caf\xe9 \xff.pdf",
        "📄 Ünïcödé — 文書.pdf".encode(),
        b"-rf --help.pdf",
        b"' OR 1=1; --.pdf",
        b"%s {} $HOME `id` *.pdf",
        b"\x1b[31mred\x07.pdf",
        b" ",
    ],
    ids=["255 bytes", "newline", "not UTF-8", "emoji", "dash", "quote", "format", "escape", "space"],
)
def test_an_odd_name_is_read_shown_and_found_like_any_other(yard: Yard, name: bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(yard.inbox) + b"/" + name))
    factories.write(path, factories.pdf("ONE"))
    yard.ingest(LayerEngine())
    document = yard.document(path.name)
    assert document.status is DocumentStatus.COMPLETE
    assert document.sources == (str(path),)
    assert all(row.uri.isprintable() for row in yard.rows("source"))
    assert yard.ingest().requests == []


def test_a_path_near_the_longest_is_read(yard: Yard) -> None:
    folder = yard.inbox
    while len(str(folder)) < 3_700:
        folder /= "d" * 200
    factories.write(folder / "a.pdf", factories.pdf("Deep down"))
    yard.ingest()
    assert [row.status for row in yard.rows("document")] == ["complete"]


def test_links_fifos_and_loops_are_never_followed_nor_opened(yard: Yard) -> None:
    (yard.inbox / "secrets.pdf").symlink_to("/etc/passwd")
    (yard.inbox / "loop").symlink_to(yard.inbox)
    (yard.inbox / "dangling.pdf").symlink_to(yard.inbox / "nothing")
    os.mkfifo(yard.inbox / "x.pdf")
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    assert _problems(yard) == {
        "secrets.pdf": "ignored-symlink",
        "loop": "ignored-symlink",
        "dangling.pdf": "ignored-symlink",
        "x.pdf": "ignored-special",
    }
    assert [row.status for row in yard.rows("document")] == ["complete"]


def test_a_bad_file_first_of_ten_is_reported_and_nine_are_read(yard: Yard) -> None:
    factories.write(yard.inbox / "0.pdf", b"%PDF-1.7\n" + bytes(2000))
    for number in range(1, 10):
        factories.write(yard.inbox / f"{number}.pdf", factories.pdf(f"Number {number}"))
    assert len(yard.ingest().requests) == 9
    assert Counter(row.status for row in yard.rows("document")) == {"complete": 9, "rejected": 1}
    assert yard.document("0.pdf").code == "corrupt"


def test_what_may_not_be_read_is_told_and_taken_up_when_that_is_mended(yard: Yard) -> None:
    factories.write(yard.inbox / "open.pdf", factories.pdf("open"))
    closed = factories.write(yard.inbox / "closed.pdf", factories.pdf("closed"))
    (yard.inbox / "folder").mkdir(mode=0o000)
    closed.chmod(0o000)
    mill, recipe_id = yard.mill(saying())
    with as_nobody(yard.inbox):
        register_roots(mill, [yard.inbox], recipe_id)
    mill.close()
    assert _problems(yard) == {"closed.pdf": "source-forbidden", "folder": "source-forbidden"}
    assert [Path(row.uri).name for row in yard.rows("source")] == ["open.pdf"]
    closed.chmod(0o644)
    (yard.inbox / "folder").chmod(0o755)
    yard.ingest()
    assert yard.document("open.pdf").status is DocumentStatus.COMPLETE
    assert yard.document("closed.pdf").status is DocumentStatus.COMPLETE
