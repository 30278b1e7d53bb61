"""Leasing work: once each, in order, guarded, and never lost."""

import threading

import sqlalchemy as sa

from db import claims, documents, tables
from db.engine import Database
from models.claim import Claim, Failure
from models.document import DocumentStatus
from models.errors import Code, DocumentRejected, EngineUnavailable, PageFailed, PermanentError
from models.stage import ClaimStatus, Stage
from tests.db import steps
from tests.db.steps import intake, lease, prepare, register, result, split

t = tables.claim


def some_work(database: Database, documents: int = 1, pages: int = 2) -> None:
    register(database, *(intake(f"/{number}.pdf", str(number)) for number in range(documents)))
    split(database, pages)


def row(database: Database, claim: Claim) -> sa.Row[tuple[object, ...]]:
    return database.run(lambda conn: conn.execute(sa.select(t).where(t.c.id == claim.id)).one())


def run_out(database: Database) -> None:
    """Every lease has run out."""
    with database.begin() as connection:
        connection.execute(sa.update(t).values(leased_until=sa.func.now() - sa.text("interval '1 second'")))


def test_four_workers_at_once_get_each_claim_once(database: Database) -> None:
    some_work(database, documents=20, pages=20)
    taken: list[int] = []

    def work(owner: str) -> None:
        while got := lease(database, Stage.PREPROCESS, 16, owner):
            taken.extend(claim.id for claim in got)

    threads = [threading.Thread(target=work, args=(f"host:{number}:1:a",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 400


def test_urgent_work_comes_first_and_equal_work_in_its_order(database: Database) -> None:
    some_work(database, documents=2, pages=2)
    with database.begin() as connection:
        connection.execute(sa.update(t).where(t.c.document_id == 1).values(priority=10))
    got = lease(database, Stage.PREPROCESS)
    assert [(claim.document_id, claim.page_no) for claim in got] == [(2, 1), (2, 2), (1, 1), (1, 2)]


def test_work_of_another_profile_is_left_alone(database: Database) -> None:
    register(database, intake("/a.pdf"))
    assert database.run(lambda c: claims.claim(c, Stage.SPLIT, 9, "o", 60, profile="other")) == []
    assert len(database.run(lambda c: claims.claim(c, Stage.SPLIT, 9, "o", 60, profile="ppocr"))) == 1


def test_a_lease_that_ran_out_is_free_again_and_counts_as_a_crash(database: Database) -> None:
    some_work(database, pages=1)
    first = lease(database, Stage.PREPROCESS)[0]
    assert lease(database, Stage.PREPROCESS) == []
    run_out(database)
    again = lease(database, Stage.PREPROCESS, owner="host:2:1:b")[0]
    assert (again.id, again.attempt, again.crashes) == (first.id, 2, 1)


def test_a_page_that_three_workers_died_of_is_quarantined_and_the_rest_goes_on(
    database: Database,
) -> None:
    some_work(database, pages=2)
    for _ in range(3):
        assert lease(database, Stage.PREPROCESS, 1)[0].page_no == 1
        run_out(database)
    assert [claim.page_no for claim in lease(database, Stage.PREPROCESS)] == [2]
    with database.begin() as connection:
        found = connection.execute(sa.select(t.c.status, t.c.code).where(t.c.page_no == 1)).one()
    assert tuple(found) == (ClaimStatus.FAILED, Code.QUARANTINED)


def test_a_renewed_lease_does_not_run_out(database: Database) -> None:
    some_work(database, pages=3)
    lease(database, Stage.PREPROCESS)
    run_out(database)
    assert database.run(lambda conn: claims.renew(conn, steps.OWNER, 60)) == 3
    assert lease(database, Stage.PREPROCESS, owner="host:2:1:b") == []


def test_a_late_owner_changes_nothing_and_is_told_so(database: Database) -> None:
    some_work(database, pages=1)
    late = lease(database, Stage.PREPROCESS)
    run_out(database)
    holder = lease(database, Stage.PREPROCESS, owner="host:2:1:b")[0]
    failure = Failure(late[0], PageFailed("Late."))
    for write in (
        lambda conn: claims.advance(conn, late, Stage.OCR),
        lambda conn: claims.end(conn, late),
        lambda conn: claims.fail(conn, [failure]),
        lambda conn: claims.retry(conn, [failure], 0),
    ):
        assert database.run(write) == frozenset()
    assert row(database, holder).owner == "host:2:1:b"


def test_work_given_back_was_never_claimed(database: Database) -> None:
    some_work(database, pages=2)
    lease(database, Stage.PREPROCESS)
    assert database.run(lambda conn: claims.release(conn, steps.OWNER)) == 2
    assert [(claim.attempt, claim.crashes) for claim in lease(database, Stage.PREPROCESS)] == [(1, 0), (1, 0)]


def test_of_some_work_given_back_only_what_is_still_held_is_free(database: Database) -> None:
    some_work(database, pages=3)
    done, broken_off, _kept = lease(database, Stage.PREPROCESS, 3)
    database.run(lambda conn: claims.advance(conn, [done], Stage.OCR))
    # The same owner has gone on with that page, in its first try as before.
    (going_on,) = lease(database, Stage.OCR, 1)
    assert (going_on.id, going_on.owner, going_on.attempt) == (done.id, done.owner, done.attempt)
    ours = database.run(lambda conn: claims.give_back(conn, [done, broken_off]))
    assert ours == {broken_off.id}
    assert row(database, done).status == "leased"
    assert (row(database, broken_off).status, row(database, broken_off).attempt) == ("ready", 0)


def test_work_of_dead_processes_of_this_host_is_free_at_once(database: Database) -> None:
    some_work(database, pages=3)
    for owner in ("host:1:1:a", "host:2:1:a", "host2:1:1:a"):
        lease(database, Stage.PREPROCESS, 1, owner)
    is_alive = {"host:1:1:a": False, "host:2:1:a": True}
    freed = database.run(lambda conn: claims.release_dead(conn, "host", is_alive.__getitem__))
    assert freed == 1
    assert [claim.crashes for claim in lease(database, Stage.PREPROCESS)] == [1]


def test_a_try_again_waits_for_its_delay_and_counts(database: Database) -> None:
    some_work(database, pages=1)
    failure = Failure(lease(database, Stage.PREPROCESS)[0], EngineUnavailable("Down."))
    database.run(lambda conn: claims.retry(conn, [failure], 600))
    assert lease(database, Stage.PREPROCESS) == []
    waiting = database.run(lambda conn: claims.outstanding(conn, [Stage.PREPROCESS]))
    assert (waiting.ready, waiting.delayed, waiting.total) == (0, 1, 1)
    database.run(lambda conn: conn.execute(sa.update(t).values(not_before=sa.func.now())))
    again = lease(database, Stage.PREPROCESS)[0]
    assert (again.attempt, again.crashes) == (2, 0)


def test_a_crash_counts_and_the_last_one_quarantines(database: Database) -> None:
    some_work(database, pages=1)
    for crashes in (1, 2, 3):
        failure = Failure(lease(database, Stage.PREPROCESS)[0], EngineUnavailable("Died.", Code.WORKER_DIED))
        assert failure.claim.crashes == crashes - 1
        database.run(lambda conn, f=failure: claims.retry(conn, [f], 0, is_crash=True, max_crashes=3))
    assert row(database, failure.claim).code == Code.QUARANTINED


def test_the_next_stage_starts_with_a_first_try(database: Database) -> None:
    some_work(database, pages=1)
    run_out(database)
    claim = lease(database, Stage.PREPROCESS)
    database.run(lambda conn: claims.advance(conn, claim, Stage.OCR))
    handed = lease(database, Stage.OCR)[0]
    assert (handed.id, handed.attempt, handed.crashes) == (claim[0].id, 1, 0)
    assert handed.ready_at > claim[0].ready_at


def test_a_document_is_ready_to_load_when_its_last_page_has_ended(database: Database) -> None:
    some_work(database, pages=3)
    failed = Failure(lease(database, Stage.PREPROCESS, 1)[0], PageFailed("Bad."))
    database.run(lambda conn: claims.fail(conn, [failed]))
    prepare(database, blank=[2])
    assert lease(database, Stage.LOAD) == []
    steps.read(database)
    assert [claim.page_no for claim in lease(database, Stage.LOAD)] == [0]


def test_pages_that_end_before_the_split_does_not_load_the_document_early(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: steps.pages.save_pages(conn, claim, [steps.page(1)]))
    prepare(database, blank=[1])
    assert lease(database, Stage.LOAD) == []
    facts = steps.DocumentFacts(1)
    database.run(lambda conn: steps.pages.finish_split(conn, claim, facts))
    assert len(lease(database, Stage.LOAD)) == 1


def test_the_last_two_pages_may_end_at_the_same_moment(database: Database) -> None:
    some_work(database, documents=5, pages=2)
    prepare(database)
    leased = lease(database, Stage.OCR)
    ready = threading.Barrier(2)

    def work(page_no: int) -> None:
        for document_id in range(1, 6):
            mine = [c for c in leased if (c.document_id, c.page_no) == (document_id, page_no)]
            ready.wait()
            database.run(lambda conn, mine=mine: steps.readings.save(conn, [result(c) for c in mine]))

    threads = [threading.Thread(target=work, args=(page_no,)) for page_no in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lease(database, Stage.LOAD)) == 5


def test_the_last_page_may_end_at_the_moment_when_the_split_does(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: steps.pages.save_pages(conn, claim, [steps.page(1)]))
    prepare(database)
    (page,) = lease(database, Stage.OCR)

    def end() -> None:
        database.run(lambda conn: steps.readings.save(conn, [result(page)]))

    ending = threading.Thread(target=end)
    with database.begin() as connection:
        steps.pages.finish_split(connection, claim, steps.DocumentFacts(1))
        ending.start()
        # Neither sees yet what the other did.
        ending.join(0.3)
    ending.join()
    assert len(lease(database, Stage.LOAD)) == 1


def test_a_refused_document_says_why_and_its_pages_are_not_begun(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: steps.pages.save_pages(conn, claim, [steps.page(1)]))
    error = DocumentRejected("It needs a password.", Code.NEEDS_PASSWORD)
    database.run(lambda conn: claims.fail(conn, [Failure(claim, error)]))
    document = database.run(lambda conn: documents.get(conn, "1"))
    assert (document.status, document.code) == (DocumentStatus.REJECTED, Code.NEEDS_PASSWORD)
    assert lease(database, Stage.PREPROCESS) == []


def test_a_document_that_fails_for_another_reason_has_failed(database: Database) -> None:
    register(database, intake("/a.pdf"))
    failure = Failure(lease(database, Stage.SPLIT)[0], PermanentError("Too slow.", Code.SPLIT_TIMEOUT))
    database.run(lambda conn: claims.fail(conn, [failure]))
    assert database.run(lambda conn: documents.get(conn, "1")).status is DocumentStatus.FAILED


def test_what_all_owners_of_a_process_hold_is_given_back_as_if_never_claimed(database: Database) -> None:
    for number, owner in enumerate(("host:1:1:a", "host:1:1:b", "host:11:1:c")):
        register(database, intake(f"/{number}.pdf", str(number)))
        lease(database, Stage.SPLIT, owner=owner)
    assert database.run(lambda conn: claims.release_process(conn, "host:1:1:")) == 2
    found = database.run(lambda conn: conn.execute(sa.select(t.c.status, t.c.attempt, t.c.crashes)).all())
    assert sorted(map(tuple, found)) == [("leased", 1, 0), ("ready", 0, 0), ("ready", 0, 0)]
