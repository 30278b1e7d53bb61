"""Claims under contention: once each, in order, and never changed by whoever lost them."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from db import claims, documents, pages, readings, tables
from db.engine import Database
from models.claim import Claim, Failure
from models.document import DocumentFacts, DocumentStatus
from models.errors import Code, EngineUnavailable, PageFailed
from models.stage import Stage
from models.work import PreparedPage
from tests.db import steps
from tests.db.steps import OWNER, RECIPE, count, intake, lease, pass_time, prepare, register, result, split

t = tables.claim
OTHER = "host:2:1:b"


def some_work(database: Database, documents: int = 1, pages: int = 2) -> None:
    register(database, *(intake(f"/{number}.pdf", str(number)) for number in range(documents)))
    split(database, pages)


def expire(database: Database) -> None:
    with database.begin() as connection:
        connection.execute(sa.update(t).values(leased_until=sa.func.now() - sa.text("interval '1 second'")))


def rows(database: Database) -> list[tuple[object, ...]]:
    """The whole ledger of claims, as it is."""
    with database.begin() as connection:
        return [tuple(row) for row in connection.execute(sa.select(t).order_by(t.c.id))]


def at_once(workers: int, work: Callable[[int], list[Claim]]) -> list[Claim]:
    """What several threads claimed that all began in the same moment."""
    barrier = threading.Barrier(workers)

    def started(number: int) -> list[Claim]:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(workers) as pool:
        return [claim for found in pool.map(started, range(workers)) for claim in found]


def drain(database: Database, stage: Stage, number: int) -> list[Claim]:
    """All that one worker gets until nothing is left for it."""
    owner, mine = f"host:{number}:1:a", []
    while got := lease(database, stage, 7, owner):
        mine.extend(got)
    return mine


def test_eight_threads_claim_500_pages_once_each(database: Database) -> None:
    some_work(database, documents=5, pages=100)
    taken = at_once(8, lambda number: drain(database, Stage.PREPROCESS, number))
    assert len(taken) == len({claim.id for claim in taken}) == 500
    assert {claim.attempt for claim in taken} == {1}
    kept = database.run(lambda conn: conn.execute(sa.select(t.c.id, t.c.owner).where(t.c.page_no > 0)).all())
    assert {(claim.id, claim.owner) for claim in taken} == set(kept)


def test_leases_that_ran_out_are_taken_over_once_each_and_one_crash_is_counted(database: Database) -> None:
    some_work(database, pages=60)
    lease(database, Stage.PREPROCESS, 60, "host:99:1:z")
    expire(database)
    taken = at_once(6, lambda number: drain(database, Stage.PREPROCESS, number))
    assert len(taken) == len({claim.id for claim in taken}) == 60
    assert Counter((claim.attempt, claim.crashes) for claim in taken) == {(2, 1): 60}


def test_what_an_open_transaction_holds_is_passed_over_and_not_waited_for(database: Database) -> None:
    some_work(database, pages=4)
    with database.begin() as connection:
        first = claims.claim(connection, Stage.PREPROCESS, 2, OWNER, 60)
        second = lease(database, Stage.PREPROCESS, 4, OTHER)
    assert [claim.page_no for claim in first] == [1, 2]
    assert [claim.page_no for claim in second] == [3, 4]


def test_a_claim_whose_transaction_fails_was_never_made(database: Database) -> None:
    some_work(database, pages=1)
    before = rows(database)
    with database.begin() as connection:
        assert claims.claim(connection, Stage.PREPROCESS, 1, OWNER, 60)
        connection.rollback()
    assert rows(database) == before


def last_two(database: Database) -> list[Claim]:
    some_work(database, pages=2)
    prepare(database)
    return lease(database, Stage.OCR)


def save(database: Database, claim: Claim) -> frozenset[int]:
    return database.run(lambda conn: readings.save(conn, [result(claim)]))


def test_whoever_ends_the_last_page_second_waits_and_makes_the_document_ready(database: Database) -> None:
    first, second = last_two(database)
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as connection:
            readings.save(connection, [result(first)])
            saved = pool.submit(save, database, second)
            time.sleep(0.3)
            assert not saved.done()
        assert saved.result(timeout=120) == {second.id}
    ready = at_once(4, lambda number: lease(database, Stage.LOAD, 5, f"host:{number}:1:a"))
    assert [(claim.page_no, claim.attempt) for claim in ready] == [(0, 1)]


def test_a_page_whose_end_was_rolled_back_keeps_the_document_waiting(database: Database) -> None:
    first, second = last_two(database)
    with database.begin() as connection:
        readings.save(connection, [result(first)])
        connection.rollback()
    save(database, second)
    assert lease(database, Stage.LOAD) == []
    save(database, first)
    assert len(lease(database, Stage.LOAD)) == 1


def test_a_page_that_fails_while_the_other_is_read_makes_the_document_ready_too(database: Database) -> None:
    first, second = last_two(database)
    failure = Failure(second, PageFailed("No.", Code.OCR_FAILED))
    ends = (lambda conn: readings.save(conn, [result(first)]), lambda conn: claims.fail(conn, [failure]))
    barrier = threading.Barrier(2)

    def work(end: Callable[[sa.Connection], frozenset[int]]) -> frozenset[int]:
        barrier.wait()
        return database.run(end)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, ends)) == [{first.id}, {second.id}]
    assert len(lease(database, Stage.LOAD)) == 1


def test_a_document_made_ready_is_not_made_ready_again(database: Database) -> None:
    leased = last_two(database)
    database.run(lambda conn: readings.save(conn, [result(claim) for claim in leased]))
    loading = lease(database, Stage.LOAD)
    database.run(lambda conn: claims.wake_documents(conn, leased))
    assert lease(database, Stage.LOAD) == []
    assert database.run(lambda conn: claims.held(conn, loading)) == {loading[0].id}


def test_what_a_late_owner_read_or_drew_is_thrown_away(database: Database) -> None:
    some_work(database, pages=1)
    late = lease(database, Stage.PREPROCESS)
    expire(database)
    lease(database, Stage.PREPROCESS, owner=OTHER)
    before = rows(database)
    drawn = [PreparedPage(claim, RECIPE.preprocess_key, steps.image("late")) for claim in late]
    assert database.run(lambda conn: pages.save_images(conn, drawn)) == frozenset()
    assert database.run(lambda conn: readings.save(conn, [result(claim) for claim in late])) == frozenset()
    assert rows(database) == before
    assert count(database, tables.page_image) == count(database, tables.reading) == 0


def test_a_late_split_adds_no_page_and_does_not_end_the_document(database: Database) -> None:
    register(database, intake("/a.pdf"))
    late = lease(database, Stage.SPLIT)[0]
    expire(database)
    lease(database, Stage.SPLIT, owner=OTHER)
    assert not database.run(lambda conn: pages.save_pages(conn, late, [steps.page(1)]))
    assert not database.run(lambda conn: pages.finish_split(conn, late, DocumentFacts(1)))
    assert database.run(lambda conn: documents.get(conn, "1")).page_count is None
    assert count(database, tables.page) == 0


def test_a_process_that_got_its_lost_work_again_ends_it_only_as_its_new_try(database: Database) -> None:
    some_work(database, pages=1)
    old = lease(database, Stage.PREPROCESS)
    expire(database)
    new = lease(database, Stage.PREPROCESS)
    assert (old[0].owner, old[0].id) == (new[0].owner, new[0].id)
    assert database.run(lambda conn: claims.end(conn, old)) == frozenset()
    assert database.run(lambda conn: claims.end(conn, new)) == {new[0].id}


def test_ended_work_cannot_be_ended_failed_or_tried_again(database: Database) -> None:
    some_work(database, pages=1)
    claim = lease(database, Stage.PREPROCESS)
    database.run(lambda conn: claims.end(conn, claim))
    before = rows(database)
    failures = [Failure(claim[0], PageFailed("Late."))]
    assert not database.run(lambda conn: claims.end(conn, claim))
    assert not database.run(lambda conn: claims.fail(conn, failures))
    assert not database.run(lambda conn: claims.retry(conn, failures, 0))
    assert rows(database) == before


def test_of_a_batch_only_what_is_still_ours_is_ended(database: Database) -> None:
    some_work(database, pages=3)
    batch = lease(database, Stage.PREPROCESS)
    database.run(lambda conn: claims.retry(conn, [Failure(batch[1], EngineUnavailable("Down."))], 60))
    assert database.run(lambda conn: claims.end(conn, batch)) == {batch[0].id, batch[2].id}


def test_renewing_keeps_a_lease_that_would_have_run_out(database: Database) -> None:
    some_work(database, pages=2)
    database.run(lambda conn: claims.claim(conn, Stage.PREPROCESS, 1, OWNER, 60))
    database.run(lambda conn: claims.claim(conn, Stage.PREPROCESS, 1, OTHER, 60))
    assert database.run(lambda conn: claims.renew(conn, OWNER, 600)) == 1
    pass_time(database, 300)
    assert [claim.page_no for claim in lease(database, Stage.PREPROCESS, owner="host:3:1:c")] == [2]


def test_renewing_brings_nothing_back_that_somebody_else_has(database: Database) -> None:
    some_work(database, pages=1)
    lease(database, Stage.PREPROCESS)
    expire(database)
    lease(database, Stage.PREPROCESS, owner=OTHER)
    before = rows(database)
    assert database.run(lambda conn: claims.renew(conn, OWNER, 600)) == 0
    assert database.run(lambda conn: claims.release(conn, OWNER)) == 0
    assert rows(database) == before


def test_the_dead_of_another_host_are_not_asked_about(database: Database) -> None:
    some_work(database, pages=4)
    owners = ["host:1:1:a", "host:10:1:a", "host.example:1:1:a", "other:1:1:a"]
    for owner in owners:
        lease(database, Stage.PREPROCESS, 1, owner)
    asked: list[str] = []
    freed = database.run(lambda conn: claims.release_dead(conn, "host", lambda o: bool(asked.append(o))))
    assert freed == 2
    assert set(asked) == {"host:1:1:a", "host:10:1:a"}
    assert [claim.page_no for claim in lease(database, Stage.PREPROCESS)] == [1, 2]


def test_a_host_whose_name_looks_like_a_pattern_frees_only_its_own(database: Database) -> None:
    some_work(database, pages=2)
    lease(database, Stage.PREPROCESS, 1, "gpu_1:1:1:a")
    lease(database, Stage.PREPROCESS, 1, "gpux1:1:1:a")
    assert database.run(lambda conn: claims.release_dead(conn, "gpu_1", lambda _: False)) == 1


def test_the_third_process_that_dies_of_a_page_takes_the_page_with_it(database: Database) -> None:
    some_work(database, pages=1)
    for _ in range(3):
        lease(database, Stage.PREPROCESS)
        database.run(lambda conn: claims.release_dead(conn, "host", lambda _: False, max_crashes=3))
    assert lease(database, Stage.PREPROCESS) == []
    assert [claim.page_no for claim in lease(database, Stage.LOAD)] == [0]


def test_a_document_that_kills_every_splitter_fails_as_quarantined(database: Database) -> None:
    register(database, intake("/a.pdf"))
    for _ in range(2):
        lease(database, Stage.SPLIT)
        database.run(lambda conn: claims.release_dead(conn, "host", lambda _: False, max_crashes=2))
    found = database.run(lambda conn: documents.get(conn, "1"))
    assert (found.status, found.code) == (DocumentStatus.FAILED, Code.QUARANTINED)
