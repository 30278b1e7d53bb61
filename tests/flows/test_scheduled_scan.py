"""Scans that come again and again: what is read, what is left, what is marked gone, and when a scan stops."""

import os
import threading
import time
from pathlib import Path

import pytest

from cli.choices import Format
from cli.export.run import export_documents
from models.errors import Code, ConfigurationError, ScanStopped
from models.intake import ScanRules
from models.settings import load_settings
from tasks.register import register_roots
from tests import factories
from tests.flows.yard import Yard, saying
from tests.permissions import as_nobody

_ALL_MAY_GO = ScanRules(gone_share=1)


def _fill(yard: Yard, *names: str, age_s: float = 60) -> None:
    """Files with contents of their own, last changed so long ago."""
    for name in names:
        path = factories.write(yard.inbox / name, factories.pdf(name))
        os.utime(path, (time.time() - age_s,) * 2)


def _gone(yard: Yard) -> set[str]:
    return {Path(row.uri).name for row in yard.rows("source") if row.gone_at is not None}


def _numbered(count: int, folder: str = ".") -> list[str]:
    return [f"{folder}/{number:02}.pdf" for number in range(count)]


def test_an_unchanged_file_is_not_opened_again(yard: Yard) -> None:
    _fill(yard, "a.pdf", "b.pdf")
    assert yard.scan() == {"listed": 2, "unchanged": 0, "gone": 0, "passed over": 0}
    before = yard.rows("source")
    (yard.inbox / "a.pdf").chmod(0o000)
    with as_nobody(yard.inbox):
        assert yard.scan() == {"listed": 2, "unchanged": 2, "gone": 0, "passed over": 0}
    assert yard.rows("scan_problem") == []
    assert all(new.last_seen > old.last_seen for old, new in zip(before, yard.rows("source"), strict=True))
    assert len(yard.rows("claim")) == 2


def test_a_file_that_was_young_when_it_was_read_is_read_once_more(yard: Yard) -> None:
    _fill(yard, "a.pdf", age_s=0)
    yard.scan()
    assert yard.scan()["unchanged"] == 0
    assert len(yard.rows("source")) == len(yard.rows("document")) == 1


def test_a_file_rewritten_in_its_size_at_the_tick_of_a_coarse_clock_is_noticed(yard: Yard) -> None:
    path = factories.write(yard.inbox / "a.pdf", factories.pdf("old"))
    os.utime(path, (int(time.time()),) * 2)
    yard.scan()
    facts = path.stat()
    path.write_bytes(bytes(facts.st_size))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    yard.scan()
    assert len(yard.rows("document")) == 2


def test_an_unchanged_document_has_work_again_under_another_recipe(yard: Yard) -> None:
    _fill(yard, "a.pdf")
    yard.scan()
    mill, recipe_id = yard.mill(saying(), ("long_edge_px=1000",))
    register_roots(mill, [yard.inbox], recipe_id)
    mill.close()
    assert [row.status for row in yard.rows("claim", recipe_id=recipe_id)] == ["ready"]


def test_a_file_that_is_still_copied_is_left_to_a_later_scan_and_is_no_failure(yard: Yard) -> None:
    _fill(yard, "old.pdf")
    _fill(yard, "new.pdf", age_s=1)
    rules = ScanRules(settle_s=30, lists_all=False)
    yard.scan(rules)
    assert [(Path(row.uri).name, row.code) for row in yard.rows("scan_problem")] == [
        ("new.pdf", "ignored-unsettled")
    ]
    assert len(yard.rows("source")) == 1
    _fill(yard, "new.pdf", age_s=31)
    yard.scan(rules)
    assert len(yard.rows("source")) == 2


def test_a_file_that_grows_while_scans_come_and_go_is_taken_once_and_whole(yard: Yard) -> None:
    data = factories.pdf(*("page" for _ in range(50)))

    def copy() -> None:
        with (yard.inbox / "a.pdf").open("wb") as file:
            for first in range(0, len(data), len(data) // 12 + 1):
                file.write(data[first : first + len(data) // 12 + 1])
                file.flush()
                time.sleep(0.1)

    writer = threading.Thread(target=copy)
    writer.start()
    while writer.is_alive():
        yard.scan(ScanRules(settle_s=600))
    assert yard.rows("document") == []
    os.utime(yard.inbox / "a.pdf", (time.time() - 601,) * 2)
    yard.scan(ScanRules(settle_s=600))
    assert [row.size for row in yard.rows("document")] == [len(data)]


def test_a_deleted_file_is_marked_gone_and_comes_back_with_its_file(yard: Yard) -> None:
    _fill(yard, *_numbered(10))
    yard.scan()
    (yard.inbox / "03.pdf").rename(yard.home.parent / "aside.pdf")
    assert yard.scan()["gone"] == 1
    assert _gone(yard) == {"03.pdf"}
    assert yard.document("03.pdf").gone == (str(yard.inbox / "03.pdf"),)
    (yard.home.parent / "aside.pdf").rename(yard.inbox / "03.pdf")
    assert yard.scan() == {"listed": 10, "unchanged": 10, "gone": 0, "passed over": 0}
    assert _gone(yard) == set()
    assert yard.document("03.pdf").gone == ()


def test_an_emptied_folder_stops_the_scan_and_changes_nothing(yard: Yard) -> None:
    _fill(yard, "a.pdf", "b.pdf")
    yard.scan()
    for name in ("a.pdf", "b.pdf"):
        (yard.inbox / name).unlink()
    factories.write(yard.inbox / "lost+found" / "x", b"x")
    before = yard.rows("source")
    with pytest.raises(ScanStopped, match="holds no files, but 2 are known there") as raised:
        yard.scan()
    assert raised.value.code is Code.ROOT_UNAVAILABLE
    assert (yard.rows("source"), yard.rows("scan_problem")) == (before, [])
    assert yard.scan(_ALL_MAY_GO)["gone"] == 2


def test_a_root_that_is_not_there_stops_the_scan_of_all_roots(yard: Yard) -> None:
    _fill(yard, "a/1.pdf", "b/2.pdf")
    roots = [str(yard.inbox / name) for name in "ab"]
    yard.scan(roots=roots)
    _fill(yard, "a/3.pdf")
    (yard.inbox / "b").rename(yard.inbox / "elsewhere")
    with pytest.raises(ScanStopped, match=r"Nothing was scanned: .*/b is not there"):
        yard.scan(_ALL_MAY_GO, roots=roots)
    assert (len(yard.rows("source")), _gone(yard)) == (2, set())


def test_more_than_the_set_share_gone_stops_the_scan_and_changes_nothing(yard: Yard) -> None:
    _fill(yard, *_numbered(30))
    yard.scan()
    _fill(yard, "new.pdf")
    for name in _numbered(16):
        (yard.inbox / name).unlink()
    with pytest.raises(ScanStopped, match=r"16 of 30 files known .* are gone") as raised:
        yard.scan()
    assert raised.value.code is Code.TOO_MANY_GONE
    assert (len(yard.rows("source")), _gone(yard)) == (30, set())
    assert yard.scan(ScanRules(gone_share=0.6))["gone"] == 16


def test_one_of_several_roots_emptied_stops_the_scan(yard: Yard) -> None:
    _fill(yard, *_numbered(20, "a"), *_numbered(3, "b"))
    roots = [str(yard.inbox / name) for name in "ab"]
    yard.scan(roots=roots)
    for name in _numbered(3, "b"):
        (yard.inbox / name).unlink()
    with pytest.raises(ScanStopped, match="/b holds no files"):
        yard.scan(roots=roots)


def test_a_few_files_may_go_whatever_their_share(yard: Yard) -> None:
    _fill(yard, *_numbered(10))
    yard.scan()
    for name in _numbered(9):
        (yard.inbox / name).unlink()
    assert yard.scan()["gone"] == 9


def test_a_renamed_folder_of_many_files_is_no_loss(yard: Yard) -> None:
    _fill(yard, *_numbered(20, "old"))
    yard.scan()
    (yard.inbox / "old").rename(yard.inbox / "new")
    assert yard.scan()["gone"] == 20
    assert (len(yard.rows("document")), len(yard.rows("claim"))) == (20, 20)
    document = yard.document("new/07.pdf")
    assert document.sources == (str(yard.inbox / "new/07.pdf"), str(yard.inbox / "old/07.pdf"))
    assert document.gone == (str(yard.inbox / "old/07.pdf"),)


def test_what_cannot_be_looked_at_is_not_gone(yard: Yard) -> None:
    _fill(yard, "a.pdf", *_numbered(12, "folder"))
    yard.scan()
    (yard.inbox / "folder").chmod(0o000)
    with as_nobody(yard.inbox):
        assert yard.scan()["gone"] == 0
    (yard.inbox / "folder").chmod(0o755)


def test_other_folders_are_none_of_a_scans_business(yard: Yard) -> None:
    _fill(yard, "in/a.pdf", "in-other/b.pdf", "in%/c.pdf")
    yard.scan()
    (yard.inbox / "in-other/b.pdf").unlink()
    assert yard.scan(roots=[str(yard.inbox / "in")])["gone"] == 0
    assert _gone(yard) == set()


def test_pagemills_own_folder_below_a_root_is_refused(yard: Yard) -> None:
    _fill(yard, "a.pdf")
    yard.settings.store.mkdir(parents=True)
    (yard.inbox / "link").symlink_to(yard.home.parent)
    for root in (yard.home, yard.home.parent, yard.settings.store, yard.inbox / "link"):
        with pytest.raises(ConfigurationError, match="PAGEMILL_HOME") as raised:
            yard.scan(roots=[str(root)])
        assert raised.value.code is Code.OUTPUT_IN_INPUT
    assert yard.rows("source") == []


def test_a_scan_that_nobody_waits_for_notes_only_what_has_changed(yard: Yard) -> None:
    _fill(yard, "a.pdf", "b.pdf", ".hidden.pdf")
    rules = ScanRules(lists_all=False)
    yard.scan(rules)
    _fill(yard, "c.pdf")
    assert yard.scan(rules) == {"listed": 3, "unchanged": 2, "gone": 0, "passed over": 1}
    assert [(row.run_id, row.seen_as) for row in yard.rows("run_document")] == [
        (1, "new"),
        (1, "new"),
        (2, "new"),
    ]
    assert yard.rows("scan_problem") == []


def test_nothing_is_exported_into_a_folder_that_is_scanned_again_and_again(yard: Yard, postgres: str) -> None:
    _fill(yard, "a.pdf")
    settings = load_settings(home=yard.home, database_url=postgres)
    yard.scan()
    output = yard.inbox / "out" / "a.md"
    export_documents(settings, ["1"], Format.MD, output, force=False)
    output.unlink()
    yard.scan(ScanRules(lists_all=False))
    with pytest.raises(ConfigurationError, match="is scanned for documents") as raised:
        export_documents(settings, ["1"], Format.MD, output, force=True)
    assert raised.value.code is Code.OUTPUT_IN_INPUT
    export_documents(settings, ["1"], Format.MD, yard.home / "a.md", force=False)


def test_links_are_followed_where_that_is_wanted(yard: Yard) -> None:
    factories.write(yard.inbox.parent / "outside" / "a.pdf", factories.pdf("outside"))
    _fill(yard, "b.pdf")
    (yard.inbox / "link").symlink_to(yard.inbox.parent / "outside")
    assert yard.scan()["listed"] == 1
    assert yard.scan(ScanRules(follows_links=True))["listed"] == 2
    assert yard.scan()["gone"] == 0
