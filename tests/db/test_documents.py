"""Registering what a scan found, and finding documents again."""

import pytest

from db import claims, documents, tables
from db.engine import Database
from models.claim import Failure
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError, DocumentRejected, EngineUnavailable
from models.stage import ClaimStatus, Stage
from tests.db import steps
from tests.db.steps import count, ingest, intake, lease, load, prepare, read, register, sha, split


def test_the_same_bytes_under_several_names_are_one_document_with_several_sources(database: Database) -> None:
    registered = register(database, intake("/a.pdf"), intake("/b.pdf"), intake("/c.pdf", "two"))
    assert registered.new == (1, 2)
    assert count(database, tables.source) == 3
    assert count(database, tables.claim) == 2
    assert set(database.run(lambda conn: documents.get(conn, "/a.pdf")).sources) == {"/a.pdf", "/b.pdf"}


def test_what_is_known_makes_no_work(database: Database) -> None:
    register(database, intake("/a.pdf"))
    registered = register(database, intake("/a.pdf"))
    assert (registered.new, registered.known, registered.again) == ((), (1,), ())
    assert count(database, tables.claim) == 1


def test_a_refused_file_is_a_rejected_document_with_its_reason(database: Database) -> None:
    registered = register(database, intake("/empty.pdf", "", "empty"), intake("/a.pdf"))
    document = database.run(lambda conn: documents.get(conn, "/empty.pdf"))
    assert registered.rejected == (document.id,)
    assert document.id not in registered.new
    assert (document.status, document.code) == (DocumentStatus.REJECTED, Code.EMPTY)
    assert count(database, tables.claim) == 1


def test_what_was_refused_and_is_readable_now_becomes_work(database: Database) -> None:
    register(database, intake("/a.jxl", "jxl", "unsupported-type"))
    assert register(database, intake("/a.jxl", "jxl")).again == (1,)
    assert database.run(lambda conn: documents.get(conn, "1")).status is DocumentStatus.PENDING
    assert len(lease(database, Stage.SPLIT)) == 1


def test_another_recipe_makes_new_work_of_a_known_document(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    assert register(database, intake("/a.pdf", "one"), recipe=steps.OTHER_RECIPE).again == (1,)


def test_a_document_that_failed_for_a_passing_cause_is_tried_at_the_next_scan(database: Database) -> None:
    register(database, intake("/a.pdf"))
    failure = Failure(lease(database, Stage.SPLIT)[0], EngineUnavailable("Died.", Code.WORKER_DIED))
    database.run(lambda conn: claims.fail(conn, [failure]))
    assert register(database, intake("/a.pdf")).again == (1,)
    assert lease(database, Stage.SPLIT)[0].attempt == 1


def test_a_page_that_failed_for_a_passing_cause_is_tried_and_its_document_loaded_again(
    database: Database,
) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database)
    failure = Failure(lease(database, Stage.OCR, 1)[0], EngineUnavailable("Down."))
    database.run(lambda conn: claims.fail(conn, [failure]))
    read(database)
    load(database, "half")
    assert database.run(lambda conn: documents.get(conn, "1")).status is DocumentStatus.PARTIAL
    assert register(database, intake("/a.pdf")).again == (1,)
    assert [claim.page_no for claim in read(database)] == [1]
    load(database, "whole")
    assert database.run(lambda conn: documents.get(conn, "1")).status is DocumentStatus.COMPLETE


@pytest.mark.parametrize(("has_passwords", "again"), [(True, (1,)), (False, ())])
def test_a_password_that_is_there_now_makes_work_of_a_locked_document(
    database: Database, has_passwords: bool, again: tuple[int, ...]
) -> None:
    register(database, intake("/a.pdf"))
    error = DocumentRejected("It needs a password.", Code.NEEDS_PASSWORD)
    failure = Failure(lease(database, Stage.SPLIT)[0], error)
    database.run(lambda conn: claims.fail(conn, [failure]))
    assert register(database, intake("/a.pdf"), has_passwords=has_passwords).again == again


def test_a_corrupt_document_is_not_tried_again(database: Database) -> None:
    register(database, intake("/a.pdf"))
    failure = Failure(lease(database, Stage.SPLIT)[0], DocumentRejected("Broken.", Code.CORRUPT))
    database.run(lambda conn: claims.fail(conn, [failure]))
    assert register(database, intake("/a.pdf")).known == (1,)
    assert count(database, tables.claim, tables.claim.c.status == ClaimStatus.FAILED) == 1


def test_a_document_is_found_by_id_hash_path_and_name(database: Database) -> None:
    register(database, intake("/some/where/année 100%.pdf", "one"))
    for ref in ("1", sha("one")[:6], sha("one").upper(), "/some/where/année 100%.pdf", "année 100%.pdf"):
        assert database.run(lambda conn, ref=ref: documents.get(conn, ref)).id == 1


@pytest.mark.parametrize("ref", ["2", "", "pdf", "%.pdf", "0" * 64, "9" * 30, sha("one")[:5]])
def test_what_is_not_there_is_not_found(database: Database, ref: str) -> None:
    register(database, intake("/a.pdf", "one"))
    with pytest.raises(ConfigurationError, match="There is no document") as raised:
        database.run(lambda conn: documents.get(conn, ref))
    assert raised.value.code is Code.NOT_FOUND


def test_a_name_that_two_documents_have_is_not_guessed(database: Database) -> None:
    register(database, intake("/x/a.pdf", "one"), intake("/y/a.pdf", "two"))
    with pytest.raises(ConfigurationError, match="may mean the documents 1, 2"):
        database.run(lambda conn: documents.get(conn, "a.pdf"))


def test_documents_are_listed_and_counted_by_status(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    register(database, intake("/b.pdf", "two"), intake("/c.pdf", "three"))
    assert [document.id for document in database.run(documents.listing)] == [1, 2, 3]
    assert database.run(documents.counts) == {DocumentStatus.PENDING: 2, DocumentStatus.COMPLETE: 1}
