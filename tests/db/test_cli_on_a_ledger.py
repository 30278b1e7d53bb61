"""Commands that read the ledger, typed against a real database."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from cli.exits import Exit
from db import runs, timings
from db.engine import Database
from models.settings import load_settings
from models.stage import Outcome, Stage
from models.timing import StageRun
from models.verdict import Verdict
from tasks.work.store import Store
from tests.db.steps import intake, prepare, read, register, split
from tests.db.test_review import document
from tests.unit.typed import Typed, typing_at

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def typed(database: Database, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    return typing_at(tmp_path, monkeypatch, database_url=postgres)


def told(typed: Typed, *words: str) -> Any:
    """What a command says to programs."""
    done = typed(*words, "--json")
    assert done.exit_code == Exit.OK, done.output
    return json.loads(done.stdout)


def time_of(database: Database, stage: Stage, seconds: float, pages: int = 2) -> None:
    ended = NOON + dt.timedelta(seconds=seconds)
    row = StageRun(1, stage, 1, NOON, NOON, ended, seconds, pages=pages)
    database.run(lambda conn: timings.record(conn, 1, [row]))


@pytest.fixture
def doubtful(database: Database) -> Database:
    """Document 1: a good page, a doubtful one and a bad one."""
    document(database, Verdict.GOOD, Verdict.SUSPECT, Verdict.BAD)
    return database


def test_an_empty_ledger_says_so_and_what_to_type(typed: Typed) -> None:
    assert "Nothing has been timed yet. Try: pagemill ingest" in typed("timings").stdout
    assert "No page has been read yet. Try: pagemill ingest" in typed("timings", "--cost", "2/h").stdout
    assert "No page waits for a person." in typed("review").stdout
    assert "Nothing was decided yet." in typed("review", "--history").stdout
    assert told(typed, "review") == {"pages": [], "total": 0}


@pytest.mark.parametrize(
    "words",
    [
        ("timings", "99"),
        ("timings", "99", "--cost", "1"),
        ("review", "--doc", "99"),
        ("backfill", "--doc", "99"),
    ],
)
def test_a_document_that_is_not_there_ends_with_2(typed: Typed, words: tuple[str, ...]) -> None:
    done = typed(*words)
    assert done.exit_code == Exit.USAGE
    assert "There is no document '99'" in done.stderr


def test_pages_that_wait_are_told_the_worst_first_with_what_to_type(doubtful: Database, typed: Typed) -> None:
    lines = typed("review").stdout.splitlines()
    assert lines[0].startswith("1:3  bad  a.pdf: Cut off. (truncated)")
    assert lines[1].startswith("1:2  suspect  a.pdf: Doubtful. (low-confidence)")
    assert "2 pages to look at." in lines
    assert lines[-1].startswith("Next: pagemill review accept PAGE")


def test_a_short_list_says_how_many_more_there_are(doubtful: Database, typed: Typed) -> None:
    assert "2 pages to look at, 1 more than shown." in typed("review", "-n", "1").stdout
    report = told(typed, "review", "-n", "1")
    assert (report["total"], [page["page"] for page in report["pages"]]) == (2, ["1:3"])


def test_a_picture_is_named_only_while_it_is_there(doubtful: Database, typed: Typed, tmp_path: Path) -> None:
    first = told(typed, "review")["pages"][0]
    assert first["picture"] == ""
    path = Store(load_settings(home=tmp_path).store).path(first["image_sha256"], first["image_suffix"])
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a picture")
    assert told(typed, "review")["pages"][0]["picture"] == str(path)
    assert str(path) in typed("review").stdout.replace("\n", "")


def test_a_page_that_was_accepted_waits_no_more_and_is_in_the_history(
    doubtful: Database, typed: Typed
) -> None:
    done = typed("review", "accept", "1:2", "--person", "Ann", "--note", "looks right")
    assert done.exit_code == Exit.OK
    assert "1:2: document 1 is " in done.stdout
    assert [page["page"] for page in told(typed, "review")["pages"]] == ["1:3"]
    history = typed("review", "--history").stdout
    assert all(word in history for word in ("1:2", "accept", "Ann", "looks right"))


def test_what_a_person_wrote_is_taken_as_it_is(doubtful: Database, typed: Typed, tmp_path: Path) -> None:
    text = tmp_path / "page.txt"
    text.write_text("\ufeffWritten by hand", "utf-8")
    (done,) = told(typed, "review", "edit", "1:3", str(text), "--person", "Ann")
    assert (done["document_id"], done["pages"]) == (1, ["1:3"])
    text.write_bytes(b"caf\xe9")
    refused = typed("review", "edit", "1:3", str(text))
    assert refused.exit_code == Exit.USAGE
    assert "is no UTF-8 text (byte 3)" in refused.stderr


@pytest.mark.parametrize("page", ["1", "1:0", "one:two", "1:2:3"])
def test_what_names_no_page_is_told_with_an_example(typed: Typed, page: str) -> None:
    done = typed("review", "ignore", page)
    assert done.exit_code == Exit.USAGE
    assert f"'{page}' names no page. Write DOC:PAGE" in done.stderr


def test_timings_tell_which_stage_limits(doubtful: Database, typed: Typed) -> None:
    time_of(doubtful, Stage.SPLIT, 1.0)
    time_of(doubtful, Stage.OCR, 3.0)
    shown = typed("timings").stdout
    assert "ocr limits the pipeline: 75% of 4.0 s of work, 1.50 s a page." in shown
    assert [row["key"] for row in told(typed, "timings", "--by", "document")["rows"]] == ["1"]
    assert "1  a.pdf" in typed("timings", "--by", "document").stdout


@pytest.mark.parametrize(("outcome", "word"), [(Outcome.CANCELLED, "cancelled"), (Outcome.FAILED, "failed")])
def test_a_run_that_broke_off_is_told_with_the_documents_and_the_timings(
    doubtful: Database, typed: Typed, outcome: Outcome, word: str
) -> None:
    time_of(doubtful, Stage.OCR, 3.0)
    assert "The last run" not in typed("status").stdout
    doubtful.run(lambda conn: runs.finish(conn, 1, outcome))
    assert word in typed("status").stdout.splitlines()[-1]
    assert f"1  ingest, {word}" in typed("timings", "--by", "run").stdout
    (row,) = told(typed, "timings", "--by", "run")["rows"]
    assert (row["kind"], row["outcome"]) == ("ingest", outcome)
    doubtful.run(lambda conn: runs.finish(conn, 1, Outcome.OK))
    assert "The last run" not in typed("status").stdout


def test_costs_are_told_by_profile_in_the_currency_that_was_named(doubtful: Database, typed: Typed) -> None:
    time_of(doubtful, Stage.OCR, 3.0)
    shown = typed("timings", "--cost", "$3.60/h").stdout
    assert shown.startswith("profile")
    assert "ppocr" in shown
    assert "$" in shown
    report = told(typed, "timings", "--cost", "$3.60/h")
    assert (report["by"], report["price"]) == ("profile", {"amount": 3.6, "currency": "$"})
    assert report["rows"][0]["pages"] == 2


def test_a_backfill_is_counted_before_anything_is_changed(database: Database, typed: Typed) -> None:
    register(database, intake("/in/a.pdf"))
    split(database, 3)
    prepare(database)
    read(database)
    plan = told(typed, "backfill", "--source", "/in/*.pdf", "--recipe", "text_layer=prefer")
    assert (plan["of"], plan["engine_minutes"], plan["continues"]) == (1, None, None)
    assert plan["cached"] + plan["to_read"] == plan["pages"] == 3
    shown = typed("backfill", "--all").stdout
    assert "Nothing was changed. Add --go to do it." in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say which documents"),
        (("--source", "/elsewhere"), "No document matches"),
        (("--all", "--profile", "nonsense"), "There is no profile 'nonsense'"),
        (("--verdict", "splendid"), "--verdict: there is no 'splendid'"),
        (("promote", "99"), "There is no backfill 99"),
        (("rollback", "99"), "There is no backfill 99"),
    ],
)
def test_a_backfill_of_nothing_is_told_so(
    doubtful: Database, typed: Typed, words: tuple[str, ...], said: str
) -> None:
    done = typed("backfill", *words)
    assert done.exit_code == Exit.USAGE
    assert said in done.stderr
