"""Names in the ledger: known, absent, seen again, gone; and which content a name means."""

import datetime as dt

import pytest

from db import documents, scans, tables
from db.engine import Database
from models.document import SourceFile
from models.errors import ConfigurationError
from tests.db.steps import count, ingest, intake, load, prepare, read, register, split


def _absent(database: Database, root: str, *present: str) -> tuple[int, set[str]]:
    found = database.run(lambda conn: scans.absent(conn, root, set(present)))
    return found.known, {source.uri for source in found.names}


def _row(database: Database, name: str) -> int:
    return database.run(lambda conn: scans.known(conn, [name]))[name][0].id


def _gone(database: Database, *ids: int) -> int:
    return database.run(lambda conn: scans.mark_gone(conn, ids, scans.clock(conn)))


def test_a_name_is_known_with_size_time_and_whether_it_was_refused(database: Database) -> None:
    register(database, intake("/a.pdf", "one"), intake("/b.txt", "text", "unsupported-type"))
    known = database.run(lambda conn: scans.known(conn, ["/a.pdf", "/b.txt", "/c.pdf"]))
    assert {name: [match.is_refused for match in matches] for name, matches in known.items()} == {
        "/a.pdf": [False],
        "/b.txt": [True],
    }
    assert known["/a.pdf"][0].source == SourceFile("/a.pdf", 3, 1)


def test_of_a_name_whose_new_content_is_not_loaded_both_are_known_the_newest_first(
    database: Database,
) -> None:
    ingest(database, "/a.pdf", "one", "text")
    register(database, intake("/a.pdf", "three"))
    known = database.run(lambda conn: scans.known(conn, ["/a.pdf"]))
    assert [match.document_id for match in known["/a.pdf"]] == [2, 1]


@pytest.mark.parametrize(
    ("root", "known"),
    [("/in", 3), ("/in/a.pdf", 1), ("/", 5), ("/i", 0), ("/in/_", 0), ("/%", 0), ("s3://b/in", 1)],
)
def test_below_a_root_is_what_begins_with_its_whole_name(database: Database, root: str, known: int) -> None:
    names = ("/in/a.pdf", "/in/deep/b.pdf", "/in/caf\udce9.pdf", "/in-other/c.pdf", "/in2", "s3://b/in/d.pdf")
    register(database, *(intake(name, name.encode("utf-8", "replace").decode()) for name in names))
    assert _absent(database, root)[0] == known


def test_only_names_not_present_are_absent_and_undecodable_ones_keep_their_bytes(database: Database) -> None:
    register(database, intake("/in/a.pdf", "one"), intake("/in/caf\udce9.pdf", "two"))
    assert _absent(database, "/in", "/in/a.pdf") == (2, {"/in/caf\udce9.pdf"})
    assert _absent(database, "/in", "/in/a.pdf", "/in/caf\udce9.pdf") == (2, set())


def test_what_is_gone_is_counted_and_marked_once(database: Database) -> None:
    register(database, intake("/in/a.pdf", "one"), intake("/in/b.pdf", "two"))
    row = _row(database, "/in/a.pdf")
    assert _gone(database, row) == 1
    assert _gone(database, row) == 0
    assert _absent(database, "/in") == (1, {"/in/b.pdf"})


def test_what_another_scan_saw_since_the_listing_is_not_marked(database: Database) -> None:
    listed_at = database.run(scans.clock)
    register(database, intake("/in/a.pdf", "one"))
    assert database.run(lambda conn: scans.mark_gone(conn, [1], listed_at)) == 0
    assert database.run(lambda conn: scans.mark_gone(conn, [1], listed_at + dt.timedelta(minutes=1))) == 1


def test_a_name_that_is_seen_again_unchanged_is_gone_no_more_and_makes_no_work(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    _gone(database, 1)
    known = database.run(lambda conn: scans.known(conn, ["/a.pdf"]))["/a.pdf"]
    registered = database.run(
        lambda conn: documents.register_unchanged(conn, 1, 1, known, has_passwords=False, lists_all=False)
    )
    assert (registered.known, registered.again) == ((1,), ())
    assert database.run(lambda conn: documents.get(conn, "1")).gone == ()
    assert count(database, tables.run_document) == 1


def test_a_document_whose_files_are_all_gone_stays_searchable_and_says_so(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    edition = database.run(lambda conn: documents.get(conn, "/a.pdf")).edition_id
    _gone(database, 1)
    document = database.run(lambda conn: documents.get(conn, "/a.pdf"))
    assert (document.gone, document.edition_id) == (("/a.pdf",), edition)
    assert edition is not None


def test_a_path_means_its_newest_content_while_the_old_is_still_shown(database: Database) -> None:
    ingest(database, "/in/a.pdf", "one", "text")
    register(database, intake("/in/a.pdf", "two"))
    assert database.run(lambda conn: documents.get(conn, "/in/a.pdf")).id == 2
    assert database.run(lambda conn: documents.get(conn, "a.pdf")).id == 2
    split(database, 1)
    prepare(database)
    read(database)
    load(database, "new text")
    assert database.run(lambda conn: documents.get(conn, "/in/a.pdf")).id == 2
    assert database.run(lambda conn: documents.get(conn, "1")).edition_id is None


def test_a_path_whose_content_came_back_means_that_content(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    ingest(database, "/a.pdf", "two", "other text")
    register(database, intake("/a.pdf", "one"))
    assert database.run(lambda conn: documents.get(conn, "/a.pdf")).id == 1
    assert not database.run(lambda conn: documents.get(conn, "1")).is_gone


def test_a_document_whose_file_holds_something_else_now_says_so(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    ingest(database, "/a.pdf", "two", "other text")
    assert database.run(lambda conn: documents.get(conn, "1")).is_gone
    assert not database.run(lambda conn: documents.get(conn, "2")).is_gone


def test_a_file_name_means_the_file_that_is_there_before_one_that_is_gone(database: Database) -> None:
    register(database, intake("/old/a.pdf", "one"), intake("/new/a.pdf", "two"))
    with pytest.raises(ConfigurationError, match="may mean the documents 1, 2"):
        database.run(lambda conn: documents.get(conn, "a.pdf"))
    _gone(database, _row(database, "/old/a.pdf"))
    found = database.run(lambda conn: documents.get(conn, "a.pdf"))
    assert found.sources == ("/new/a.pdf",)
    assert database.run(lambda conn: documents.get(conn, "/old/a.pdf")).gone == ("/old/a.pdf",)
