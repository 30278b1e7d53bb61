"""Every option of a command arrives where it has an effect."""

from pathlib import Path
from typing import Any

import pytest

from cli.asking import Question
from cli.choices import By
from cli.exits import Exit
from cli.serving import Wish as ServeWish
from flows.installation.wish import Wish as UpWish
from models.backfill import FromStage, Selection
from models.cost import Price
from models.document import DocumentStatus
from models.invariant import Upkeep, Violation
from models.review import Action, Decision
from models.verdict import Verdict
from tests.unit.typed import Typed, catching, typing_at


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    return typing_at(tmp_path, monkeypatch)


def test_ask_takes_pictures_a_question_and_its_options(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = catching(monkeypatch, "cli.asking.ask_and_show", Exit.INCOMPLETE)
    picture, schema = tmp_path / "a.png", tmp_path / "s.json"
    picture.touch()
    schema.touch()
    done = typed(
        "ask", "ostrakon", picture, "How many?", "--task", "count", "--schema", schema, "--page", 2, "--save"
    )
    assert done.exit_code == Exit.INCOMPLETE
    question, named = calls[0]
    assert question == Question("ostrakon", (picture,), "How many?", "count", schema, 2, is_saved=True)
    assert named == {"as_json": False}


def test_serve_takes_everything_of_a_wish_and_flags_after_two_dashes(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = catching(monkeypatch, "cli.serving.serve_and_watch", Exit.OK)
    words = [
        "--model",
        "/w",
        "--gpus",
        "0,1",
        "--data-parallel",
        "--with",
        "mtp",
        "--with",
        "fp8",
        "--host",
        "::1",
    ]
    words += ["--port", "9000", "--download", "--memory-mb", "4096", "--accept-licence", "--print"]
    assert typed("serve", "chandra", *words, "--", "--max-num-seqs", "8").exit_code == 0
    assert calls == [
        (
            ServeWish(
                "chandra", "/w", "0,1", "::1", 9000, is_data_parallel=True, is_accepted=True,
                may_download=True,
                options=("mtp", "fp8"), extra=("--max-num-seqs", "8"), memory_mb=4096,
            ),
            {"only_print": True},
        )
    ]  # fmt: skip


def test_serve_asks_for_nothing_dangerous_by_itself(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = catching(monkeypatch, "cli.serving.serve_and_watch", Exit.OK)
    typed("serve", "glm-ocr")
    assert calls == [(ServeWish("glm-ocr"), {"only_print": False})]


SELECTED = [
    *(
        "--source",
        "*.pdf",
        "--status",
        "partial",
        "--status",
        "failed",
        "--verdict",
        "bad",
        "--finding",
        "loop",
    ),
    *(
        "--of-profile",
        "ppocr",
        "--of-recipe",
        "abc123",
        "--since",
        "2026-11-01",
        "--until",
        "2026-11-30",
        "--all",
    ),
]


def test_backfill_narrows_by_every_filter(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = catching(monkeypatch, "cli.backfilling.show_plan")
    assert typed("backfill", *SELECTED).exit_code == 0
    ((wish, _),) = calls
    assert wish.selection == Selection(
        source="*.pdf",
        statuses=(DocumentStatus.PARTIAL, DocumentStatus.FAILED),
        verdicts=(Verdict.BAD,),
        findings=("loop",),
        profile="ppocr",
        recipe="abc123",
        since="2026-11-01",  # type: ignore[arg-type]
        until="2026-11-30",  # type: ignore[arg-type]
        everything=True,
    )


def test_backfill_only_counts_unless_it_is_told_to_go(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = catching(monkeypatch, "cli.backfilling.show_plan")
    done = catching(monkeypatch, "cli.rereading.run_and_report", Exit.INCOMPLETE)
    assert typed("backfill", "--all", "--json").exit_code == 0
    assert (counted[0][1], done) == ({"as_json": True}, [])
    how = ["--from", "preprocess", "--profile", "glm-ocr", "--recipe", "a=b", "--again", "--promote"]
    assert typed("backfill", "--all", *how, "--go", "--here", "-j", 3).exit_code == Exit.INCOMPLETE
    ((wish, named),) = done
    assert (wish.start, wish.profile, wish.options) == (FromStage.PREPROCESS, "glm-ocr", ("a=b",))
    assert (wish.again, wish.promote) == (True, True)
    assert named == {"here": True, "jobs": 3, "as_json": False}
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("command", "target"),
    [("compare", "show_comparison"), ("promote", "promote"), ("rollback", "roll_back")],
)
def test_what_a_backfill_made_is_chosen_by_number_and_documents(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, command: str, target: str
) -> None:
    calls = catching(monkeypatch, f"cli.backfilling.{target}")
    assert typed("backfill", command, 4, "--source", "/in", "--status", "partial", "--json").exit_code == 0
    narrowed = Selection(source="/in", statuses=(DocumentStatus.PARTIAL,))
    assert calls == [(4, narrowed, {"as_json": True})]
    typed("backfill", command)
    assert calls[1] == (None, Selection(), {"as_json": False})


@pytest.mark.parametrize("broken", [0, 1])
def test_maintain_ends_with_3_where_the_ledger_contradicts_itself(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    found = (Violation("claim-state", "Work is in one state", 1, ()),) * broken
    calls = catching(monkeypatch, "cli.maintaining.run_maintenance", Upkeep(0, (), 0, 0, 0, found, 0.1))
    done = typed("maintain", "--images-days", 2, "--results-days", 0.5)
    assert done.exit_code == (Exit.INCOMPLETE if broken else Exit.OK)
    assert ("claim-state" in done.stdout) == bool(broken)
    assert calls == [({"images_days": 2.0, "results_days": 0.5},)]


@pytest.mark.parametrize("days", ["-1", "40000", "soon"])
def test_maintain_refuses_days_that_are_none(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, days: str
) -> None:
    calls = catching(monkeypatch, "cli.maintaining.run_maintenance")
    assert typed("maintain", "--images-days", days).exit_code == Exit.USAGE
    assert calls == []


def test_timings_show_costs_where_a_price_is_given(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    times = catching(monkeypatch, "cli.timing.show_timings")
    costs = catching(monkeypatch, "cli.costs.show_costs")
    typed("timings", "7", "--by", "run")
    typed("timings", "--cost", "2,69 EUR/h", "--by", "document", "--json")
    assert times == [("7", By.RUN, {"as_json": False})]
    assert costs == [(None, By.DOCUMENT, Price(2.69, "EUR"), {"as_json": True})]


def test_a_price_that_is_none_is_told_before_anything_is_opened(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = catching(monkeypatch, "cli.costs.show_costs")
    done = typed("timings", "--cost", "cheap")
    assert done.exit_code == Exit.USAGE
    assert "'cheap' is no price" in done.stderr
    assert costs == []


def test_up_takes_what_is_watched_when_and_by_which_model(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect:4200/api")
    calls = catching(monkeypatch, "cli.installing.bring_up")
    words = ["--watch", "/a", "--watch", "/b", "--cron", "0 * * * *", "--timezone", "Europe/Berlin"]
    assert typed("up", "--gpu", "glm-ocr", *words, "--host", "::1", "--port", 4300).exit_code == 0
    ((wish, given, _),) = calls
    assert wish == UpWish(
        host="::1", port=4300, theirs="http://prefect:4200/api", gpu="glm-ocr",
        watch=(Path("/a"), Path("/b")), unwatch=False, cron="0 * * * *", timezone="Europe/Berlin",
        profile="glm-ocr",
    )  # fmt: skip
    assert given["PREFECT_API_URL"] == "http://prefect:4200/api"


def test_up_reads_with_the_profile_of_the_settings_unless_told_otherwise(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = catching(monkeypatch, "cli.installing.bring_up")
    for words in (["--no-watch"], ["--gpu", "glm-ocr"], ["--profile", "rapidocr", "--watch", "/a"]):
        typed("up", *words)
    assert [wish.profile for wish, _, _ in calls] == ["ppocr", "glm-ocr", "rapidocr"]
    assert [wish.unwatch for wish, _, _ in calls] == [True, False, False]


@pytest.mark.parametrize(
    "words",
    [
        ["--cron", "0 * * * *"],
        ["--timezone", "UTC"],
        ["--profile", "ppocr", "--no-watch"],
        ["--into", "units"],
    ],
)
def test_up_refuses_options_that_would_do_nothing(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    calls = catching(monkeypatch, "cli.installing.bring_up")
    done = typed("up", *words)
    assert (done.exit_code, calls) == (Exit.USAGE, [])
    assert "give" in done.stderr


@pytest.mark.parametrize("command", ["accept", "ignore"])
def test_decisions_carry_who_and_why(typed: Typed, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    calls = catching(monkeypatch, "cli.deciding.decide")
    assert typed("review", command, "1:2", "3:4", "--person", "Ann\x1b", "--note", "a cover").exit_code == 0
    ((refs, decision, named),) = calls
    assert refs == ["1:2", "3:4"]
    assert (decision.action, decision.note) == (Action(command), "a cover")
    assert decision.person.startswith("Ann")
    assert "\x1b" not in decision.person
    assert named == {"as_json": False}


def test_a_retry_says_how_to_read(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = catching(monkeypatch, "cli.deciding.retry", Exit.INCOMPLETE)
    words = [
        "--profile",
        "glm-ocr",
        "--recipe",
        "a=b",
        "--over-edit",
        "--here",
        "--jobs",
        2,
        "--person",
        "Ann",
    ]
    assert typed("review", "retry", "1:2", *words).exit_code == Exit.INCOMPLETE
    how: dict[str, Any] = {
        "profile": "glm-ocr",
        "options": ["a=b"],
        "over_edit": True,
        "here": True,
        "jobs": 2,
    }
    assert calls == [(["1:2"], Decision(Action.RETRY, "Ann"), how, {"as_json": False})]


def test_review_lists_by_default(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = catching(monkeypatch, "cli.reviewing.show_waiting")
    decided = catching(monkeypatch, "cli.reviewing.show_history")
    typed("review", "--doc", "7", "-n", 5)
    typed("review")
    typed("review", "list", "--history", "--json")
    assert listed == [(["7"], 5, {"as_json": False}), ((), 50, {"as_json": False})]
    assert decided == [((), 50, {"as_json": True})]
