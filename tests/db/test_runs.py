"""Runs: who ran what, on what, how it ended; and the recipes they share."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from db import runs, tables
from db.engine import Database
from models.document import ScanProblem
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from models.run import Run
from models.stage import Outcome
from tests.db.steps import OTHER_RECIPE, RECIPE, count


def start(database: Database, recipe: Recipe | None = RECIPE, **facts: str) -> int:
    return database.run(lambda conn: runs.start(conn, "ingest", recipe, facts))


def get(database: Database, run_id: int) -> Run:
    return database.run(lambda conn: runs.get(conn, run_id))


def recipe_id(database: Database, recipe: Recipe) -> int:
    return database.run(lambda conn: runs.recipe_id(conn, recipe))


def problem(number: int, message: str = "It is gone.") -> ScanProblem:
    return ScanProblem(f"/{number}.pdf", "source-gone", message)


def test_a_run_is_this_process_s_and_has_not_ended(database: Database) -> None:
    run = get(database, start(database))
    assert (run.kind, run.host, run.pid) == ("ingest", socket.gethostname(), os.getpid())
    assert (run.ended_at, run.outcome, run.prefect_run_id) == (None, None, None)
    assert run.started_at.tzinfo is not None


def test_each_start_is_a_run_of_its_own(database: Database) -> None:
    first, second = start(database), start(database)
    assert second > first
    assert get(database, first).recipe_id == get(database, second).recipe_id


def test_a_run_may_have_no_recipe(database: Database) -> None:
    assert get(database, start(database, None)).recipe_id is None
    assert count(database, tables.recipe) == 0


@pytest.mark.parametrize("outcome", Outcome)
def test_a_run_ends_in_any_way_there_is(database: Database, outcome: Outcome) -> None:
    run_id = start(database)
    database.run(lambda conn: runs.finish(conn, run_id, outcome))
    assert get(database, run_id).outcome is outcome


def test_of_all_runs_that_ended_the_last_is_found(database: Database) -> None:
    assert database.run(runs.last_ended) is None
    first, second, _under_way = start(database), start(database), start(database)
    for run_id, outcome in ((second, Outcome.OK), (first, Outcome.CANCELLED)):
        database.run(lambda conn, run_id=run_id, outcome=outcome: runs.finish(conn, run_id, outcome))
    assert database.run(runs.last_ended) == get(database, first)


def test_the_end_of_one_run_is_not_that_of_another(database: Database) -> None:
    first, second = start(database), start(database)
    database.run(lambda conn: runs.finish(conn, first, Outcome.OK))
    assert get(database, second).ended_at is None


def test_a_run_that_starts_and_ends_in_one_transaction_took_time(database: Database) -> None:
    with database.begin() as connection:
        run_id = runs.start(connection, "load", None, {})
        runs.finish(connection, run_id, Outcome.OK)
    run = get(database, run_id)
    assert run.ended_at is not None
    assert run.ended_at > run.started_at


def test_later_facts_are_added_and_replace_those_of_the_same_name(database: Database) -> None:
    run_id = start(database, engine="?", pagemill="0.1.0")
    database.run(lambda conn: runs.add_facts(conn, run_id, {"engine": "tiny 1.0", "note": "安 'quoted' %s"}))
    assert get(database, run_id).facts == {
        "engine": "tiny 1.0",
        "pagemill": "0.1.0",
        "note": "安 'quoted' %s",
    }


def test_no_more_facts_change_none(database: Database) -> None:
    run_id = start(database, engine="1")
    database.run(lambda conn: runs.add_facts(conn, run_id, {}))
    assert get(database, run_id).facts == {"engine": "1"}


def test_a_run_that_is_not_there_is_told_by_its_number(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="There is no run 7") as caught:
        get(database, 7)
    assert caught.value.code is Code.NOT_FOUND


def test_problems_come_back_in_the_order_they_were_met_and_each_to_its_run(database: Database) -> None:
    first, second = start(database), start(database)
    met = [problem(number) for number in (3, 1, 2)]
    database.run(lambda conn: runs.save_problems(conn, first, met[:2]))
    database.run(lambda conn: runs.save_problems(conn, second, [problem(9)]))
    database.run(lambda conn: runs.save_problems(conn, first, met[2:]))
    assert database.run(lambda conn: runs.problems(conn, first)) == tuple(met)
    assert database.run(lambda conn: runs.problems(conn, second)) == (problem(9),)


def test_a_run_without_problems_has_none(database: Database) -> None:
    run_id = start(database)
    database.run(lambda conn: runs.save_problems(conn, run_id, []))
    assert database.run(lambda conn: runs.problems(conn, run_id)) == ()


def test_the_same_path_may_be_a_problem_twice(database: Database) -> None:
    run_id = start(database)
    database.run(lambda conn: runs.save_problems(conn, run_id, [problem(1), problem(1)]))
    assert len(database.run(lambda conn: runs.problems(conn, run_id))) == 2


@pytest.mark.parametrize("message", ["a\x00b", "half \ud800", "\x1b[31mred", "two\nlines", "byte \udcff"])
def test_a_problem_s_message_is_stored_whatever_is_in_it(database: Database, message: str) -> None:
    run_id = start(database)
    database.run(lambda conn: runs.save_problems(conn, run_id, [problem(1, message)]))
    assert database.run(lambda conn: runs.problems(conn, run_id))[0].message.isprintable()


def test_a_path_with_half_a_character_is_a_problem_like_any_other(database: Database) -> None:
    run_id = start(database)
    odd = ScanProblem("/\ud800.pdf", "source-gone", "It is gone.")
    database.run(lambda conn: runs.save_problems(conn, run_id, [odd]))
    assert database.run(lambda conn: runs.problems(conn, run_id))[0].uri == "/\\xd800.pdf"


def test_a_recipe_comes_back_as_it_was(database: Database) -> None:
    odd = Recipe(profile="é安", revision="'1'", text_layer="prefer", annotations=False, jpeg_quality=50)
    stored = recipe_id(database, odd)
    again = database.run(lambda conn: runs.recipe(conn, stored))
    assert (again, again.hash) == (odd, odd.hash)


def test_equal_recipes_are_one_and_different_ones_are_not(database: Database) -> None:
    assert recipe_id(database, RECIPE) == recipe_id(database, Recipe(revision="1"))
    assert recipe_id(database, OTHER_RECIPE) != recipe_id(database, RECIPE)
    assert count(database, tables.recipe) == 2


def test_a_recipe_that_many_workers_bring_at_once_is_stored_once(database: Database) -> None:
    barrier = Barrier(6)

    def bring(_: int) -> int:
        barrier.wait()
        return recipe_id(database, RECIPE)

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(bring, range(6)))) == 1
    assert count(database, tables.recipe) == 1


def test_a_recipe_that_is_not_there_is_told_by_its_number(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="There is no recipe 7") as caught:
        database.run(lambda conn: runs.recipe(conn, 7))
    assert caught.value.code is Code.NOT_FOUND
