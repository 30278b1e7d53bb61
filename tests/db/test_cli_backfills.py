"""`pagemill backfill list` and `cancel`, typed against a real database."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.exits import Exit
from db import backfills
from db.engine import Database
from tests.db.backfilling import enrol, wish
from tests.db.steps import OTHER_RECIPE, RECIPE, ingest, load, prepare, read, split
from tests.unit.typed import Typed, typing_at


@pytest.fixture
def typed(database: Database, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """A shell on a ledger of two documents of a page each."""
    ingest(database, "/a.pdf", "one", "words")
    ingest(database, "/b.pdf", "two", "words")
    return typing_at(tmp_path, monkeypatch, database_url=postgres)


def told(typed: Typed, *words: str) -> Any:
    done = typed("backfill", *words, "--json")
    assert done.exit_code == Exit.OK, done.output
    return json.loads(done.stdout)


def test_without_a_backfill_the_list_says_what_to_type(typed: Typed) -> None:
    assert "There was no backfill yet. Try: pagemill backfill" in typed("backfill", "list").stdout


def test_the_list_says_how_far_each_is_and_what_it_cost(database: Database, typed: Typed) -> None:
    enrol(database, wish(), RECIPE)
    database.run(backfills.end)
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=OTHER_RECIPE)
    read(database, "Anew.")
    new, old = told(typed, "list")
    assert (new["backfill"], new["standing"]["unfinished"]) == (2, 2)
    assert new["spent"] == {"pages": 2, "seconds": 4.0, "tokens": 0}
    assert (old["backfill"], old["spent"]["pages"], bool(old["ended_at"])) == (1, 0, True)
    first, second = typed("backfill", "list").stdout.splitlines()[1:]
    assert first.rstrip().endswith("under way")
    assert second.rstrip().endswith("ended")
    load(database, "Anew.")
    database.run(backfills.end)
    assert "2 not shown" in typed("backfill", "list", "-n", "1").stdout


def test_cancelling_says_what_was_given_up_and_what_it_had_cost(database: Database, typed: Typed) -> None:
    enrol(database, wish(), OTHER_RECIPE)
    done = typed("backfill", "cancel")
    assert done.exit_code == Exit.OK
    assert "Backfill 1 is cancelled: nothing more is read of 2 documents." in done.stdout
    assert "It had read 0 pages" in done.stdout
    assert "cancelled by " in typed("backfill", "list").stdout
    again = told(typed, "cancel", "1")
    assert (again["taken_back"], again["line"]["standing"]["documents"]) == (0, 0)
    assert again["line"]["cancelled_by"]


def test_what_has_ended_or_is_not_there_is_told_in_a_line(database: Database, typed: Typed) -> None:
    enrol(database, wish(), RECIPE)
    database.run(backfills.end)
    for words, said in ((("cancel",), "Backfill 1 has ended"), (("cancel", "9"), "There is no backfill 9")):
        done = typed("backfill", *words)
        assert (done.exit_code, said in done.stderr) == (Exit.USAGE, True)
