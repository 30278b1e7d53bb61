"""What has broken the loading of other knowledge bases, with the right outcome here."""

import contextlib
import threading

import pytest
import sqlalchemy as sa

from db import claims, documents, editions, reports, runs, tables
from db.engine import Database
from db.search import search
from models.claim import Failure
from models.document import DocumentStatus
from models.errors import DatabaseBusy, PermanentError
from models.stage import Stage
from models.text import clean
from tests.db import steps
from tests.db.steps import chunk, count, ingest, intake, lease, load, prepare, read, register, split


def found(database: Database, query: str) -> list[str]:
    return [hit.snippet for hit in database.run(lambda conn: search(conn, query))]


NASTY = "a\x00b \ud835\udc65 \ud800 lone\x0bline\u2028end 全文\U0001f600"


def test_cleaned_text_is_stored_and_comes_back_as_it_was(database: Database) -> None:
    text = clean(NASTY)
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database, text)
    load(database, text)
    page = database.run(lambda conn: reports.pages(conn, 1))[0]
    assert page.text == text
    assert page.blocks[0].text == text
    assert found(database, "lone")


def test_odd_names_and_messages_are_stored_and_names_stay_usable(database: Database) -> None:
    name = "/tmp/caf\udce9 \n\x01.pdf"
    register(database, intake(name))
    claim = lease(database, Stage.SPLIT)[0]
    assert database.run(lambda conn: documents.to_split(conn, [claim]))[0].sources[0].uri == name
    error = PermanentError(NASTY)
    assert database.run(lambda conn: claims.fail(conn, [Failure(claim, error)])) == {claim.id}
    assert database.run(lambda conn: documents.get(conn, name)).message == clean(NASTY)


def test_names_and_texts_longer_than_an_index_row_are_stored(database: Database) -> None:
    noise = "".join(chr(0x4E00 + (at * 7919) % 20_000) for at in range(9_000))
    ingest(database, f"/{noise}.pdf", "one", noise)
    assert database.run(lambda conn: documents.get(conn, f"/{noise}.pdf")).id == 1
    assert found(database, noise[4000:4006])


def test_two_loaders_of_the_same_names_in_opposite_order_both_come_through(database: Database) -> None:
    files = [intake(f"/{number}.pdf", str(number)) for number in range(200)]
    failed: list[BaseException] = []

    def work(mine: list[object]) -> None:
        try:
            for _ in range(3):
                register(database, *mine)  # type: ignore[arg-type]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in (files, files[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert (count(database, tables.document), count(database, tables.claim)) == (200, 200)


def test_a_deadlock_is_tried_again_until_both_transactions_are_through(database: Database) -> None:
    ingest(database, "/a.pdf", "one")
    ingest(database, "/b.pdf", "two")
    both_hold_one = threading.Barrier(2)
    tries: list[int] = []

    def work(connection: sa.Connection, first: int, second: int) -> None:
        tries.append(first)
        lock = sa.update(tables.document).values(title=f"by {first}")
        connection.execute(lock.where(tables.document.c.id == first))
        if tries.count(first) == 1:
            both_hold_one.wait()
        connection.execute(lock.where(tables.document.c.id == second))

    orders = ((1, 2), (2, 1))
    threads = [
        threading.Thread(target=database.run, args=(lambda conn, o=order: work(conn, *o),))
        for order in orders
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tries) in ([1, 1, 2], [1, 2, 2])
    titles = database.run(lambda conn: [document.title for document in documents.listing(conn)])
    assert titles[0] == titles[1]


class PowerCut(Exception):
    """What ends a load half-way."""


@pytest.mark.parametrize("loads_before", [0, 1])
def test_a_load_cut_off_shows_the_old_edition_or_none_and_a_second_try_doubles_nothing(
    database: Database, loads_before: int
) -> None:
    if loads_before:
        ingest(database, "/a.pdf", "one", "the old passage")
    register(database, intake("/a.pdf", "new"))
    split(database, 1)
    prepare(database)
    read(database)
    claim = lease(database, Stage.LOAD)[0]
    pages = database.run(lambda conn: editions.to_load(conn, claim))

    def cut_off(connection: sa.Connection) -> None:
        editions.load(connection, claim, 1, pages, [chunk("the new passage")])
        raise PowerCut

    with pytest.raises(PowerCut):
        database.run(cut_off)
    assert found(database, "passage") == ["the old passage"] * loads_before
    database.run(lambda conn: editions.load(conn, claim, 1, pages, [chunk("the new passage")]))
    assert found(database, "passage") == ["the new passage"]
    assert count(database, tables.chunk) == 1 + loads_before


def test_ingesting_again_and_again_changes_no_count(database: Database) -> None:
    ingest(database, "/a.pdf", "five", "old one", "old two", page_count=5)
    ingest(database, "/a.pdf", "three", "new", page_count=3)
    before = [count(database, table) for table in tables.metadata.sorted_tables if "run" not in table.name]
    for _ in range(2):
        ingest(database, "/a.pdf", "three", "new", page_count=3)
    after = [count(database, table) for table in tables.metadata.sorted_tables if "run" not in table.name]
    assert after == before
    assert found(database, "old") == []
    assert len(database.run(lambda conn: reports.pages(conn, 2))) == 3


def test_the_old_content_of_a_name_stays_searchable_until_the_new_is_loaded(database: Database) -> None:
    ingest(database, "/a.pdf", "old", "the old passage")
    register(database, intake("/a.pdf", "new"))
    split(database, 1)
    assert found(database, "passage") == ["the old passage"]
    prepare(database)
    failed = lease(database, Stage.OCR)
    error = PermanentError("No.")
    database.run(lambda conn: claims.fail(conn, [Failure(claim, error) for claim in failed]))
    assert found(database, "passage") == ["the old passage"]


def test_a_blank_page_in_the_place_of_a_text_takes_the_text_away(database: Database) -> None:
    ingest(database, "/a.pdf", "old", "the old passage")
    register(database, intake("/a.pdf", "blank"))
    split(database, 1)
    prepare(database, blank=[1])
    load(database)
    assert found(database, "passage") == []
    assert database.run(lambda conn: documents.get(conn, "/a.pdf")).status is DocumentStatus.COMPLETE


def test_content_that_is_somewhere_else_too_stays_when_one_name_changes(database: Database) -> None:
    ingest(database, "/a.pdf", "old", "the old passage")
    register(database, intake("/copy.pdf", "old"))
    ingest(database, "/a.pdf", "new", "the new passage")
    assert sorted(found(database, "passage")) == ["the new passage", "the old passage"]


def test_an_old_content_that_returns_under_its_name_is_current_again(database: Database) -> None:
    ingest(database, "/a.pdf", "old", "the old passage")
    ingest(database, "/a.pdf", "new", "the new passage")
    assert register(database, intake("/a.pdf", "old")).again == (1,)
    load(database, "not looked at: the edition is known")
    assert found(database, "passage") == ["the old passage"]


def test_a_content_that_was_replaced_while_it_was_read_is_not_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "old", "the old passage")
    register(database, intake("/a.pdf", "slow"))
    split(database, 1)
    register(database, intake("/a.pdf", "old"))
    prepare(database)
    read(database)
    load(database, "the slow passage")
    assert found(database, "passage") == ["the old passage"]


def test_one_refused_chunk_leaves_no_half_document(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    with pytest.raises(sa.exc.DBAPIError):
        load(database, *["fine"] * 11, "not\x00fine", *["fine"] * 28)
    assert count(database, tables.chunk) == 0
    assert database.run(lambda conn: documents.get(conn, "1")).status is DocumentStatus.PENDING


def test_no_transaction_stays_open_between_claiming_and_saving(database: Database) -> None:
    register(database, intake("/a.pdf"))
    lease(database, Stage.SPLIT)
    idle = sa.text("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
    assert database.run(lambda conn: conn.execute(idle).scalar_one()) == 0


def test_a_backend_ended_between_statements_costs_one_more_try(database: Database) -> None:
    tries: list[int] = []

    def work(connection: sa.Connection) -> int:
        mine: int = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        tries.append(mine)
        if len(tries) == 1:
            end_backend(database, mine)
        return runs.start(connection, "ingest", steps.RECIPE, {})

    assert database.run(work) == 1
    assert len(tries) == 2


def end_backend(database: Database, pid: int) -> None:
    with database.begin() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 1000)"), {"pid": pid})


def test_more_connections_than_the_server_takes_are_a_passing_error(database: Database) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    others = [Database(url) for _ in range(16)]
    for other in others:
        other.run(lambda conn: None)
    with contextlib.ExitStack() as stack:
        transactions = (stack.enter_context(other.begin()) for other in others for _ in range(7))
        with pytest.raises(DatabaseBusy, match="too many clients"):
            list(transactions)
    for other in others:
        other.close()
    assert database.run(lambda conn: conn.execute(sa.text("SELECT 1")).scalar_one()) == 1
