"""What the newer commands print for people: reviews, retries, costs, checks, profiles and terms."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cli import choosing, costs, timing
from cli.catalogue import show_checks, show_profile, show_profiles
from cli.choosing import choose_profile
from cli.deciding import decision, print_retried
from cli.reviewing import WaitingReport, print_history, print_waiting
from models.cost import CostReport, CostRow, Limit, Price, StageUse
from models.errors import Code, ConfigurationError
from models.profiles import PROFILES
from models.review import Action, PageToReview, Retried, ReviewAction, Try
from models.settings import load_settings
from models.stage import Stage
from models.telemetry import DeviceUse
from models.verdict import Finding, Severity, Verdict
from tasks.work.checks import CHECKS, DOCUMENT_CHECKS
from tests.unit.shown import NOON


def drawn(draw: Callable[[Console], None]) -> str:
    """What a pipe gets."""
    file = io.StringIO()
    draw(Console(file=file, width=140, highlight=False, markup=False, emoji=False))
    return file.getvalue()


def waiting(**changes: Any) -> PageToReview:
    findings = tuple(
        Finding(code, severity, code.title())
        for code, severity in (("loop", Severity.ERROR), ("echo", Severity.ERROR), ("thin", Severity.WARNING))
    )
    values: dict[str, Any] = {
        "page": "7:3", "document_id": 7, "page_no": 3, "name": "/in/a [1].pdf", "verdict": Verdict.BAD,
        "severity": Severity.ERROR, "code": "loop", "message": "It repeats itself.", "findings": findings,
        "reading_id": 1, "profile": "glm-ocr", "image_sha256": None, "image_suffix": None,
    }  # fmt: skip
    return PageToReview(**values | changes)


def test_a_page_that_waits_is_told_with_all_reasons_that_weigh_as_much() -> None:
    text = drawn(lambda out: print_waiting(out, WaitingReport((waiting(),), 1)))
    assert "7:3  bad  a [1].pdf: It repeats itself. (loop, echo)" in text
    assert "thin" not in text
    assert "1 page to look at." in text


def test_tries_and_picture_stand_under_their_page() -> None:
    tries = (
        Try(1, "glm-ocr", "", Verdict.BAD, ("loop",), "length", 2.0, is_kept=False),
        Try(2, "glm-ocr", "sampling", Verdict.GOOD, (), "stop", 2.0, is_kept=True),
    )
    page = waiting(tries=tries, picture="/store/a.jpg")
    lines = drawn(lambda out: print_waiting(out, WaitingReport((page,), 4))).splitlines()
    assert lines[1] == "    /store/a.jpg"
    assert lines[2] == "    tried: 1 glm-ocr first: bad (loop); 2 glm-ocr sampling: good"
    assert "4 pages to look at, 3 more than shown." in lines


def test_a_decision_is_a_line_of_the_history() -> None:
    one = ReviewAction(1, 7, 3, 1, None, Action.IGNORE, "Ann", "[b]a cover[/b]", NOON)
    head, line = drawn(lambda out: print_history(out, [one])).splitlines()
    assert head.split() == ["at", "page", "action", "person", "note"]
    assert line.split(maxsplit=5) == ["2026-03-01", "12:00:00Z", "7:3", "ignore", "Ann", "[b]a cover[/b]"]


@pytest.mark.parametrize(
    ("retried", "said"),
    [
        (Retried("7:3", "x", Verdict.GOOD, is_shown=True), "7:3  x: read as good, and shown"),
        (Retried("7:3", "x", Verdict.BAD, is_shown=False), "read as bad, no better: what was shown"),
        (Retried("7:3", "x", None, is_shown=False, code="away", message="Nobody."), "7:3  x: Nobody. (away)"),
        (Retried("7:3", "x", None, is_shown=False, message="Not read yet."), "7:3  x: Not read yet.\n"),
    ],
)
def test_what_came_of_a_retry_is_told_in_a_line(retried: Retried, said: str) -> None:
    assert said in drawn(lambda out: print_retried(out, [retried]))


def test_nobody_s_name_stands_for_whoever_is_logged_in() -> None:
    assert "@" in decision("accept", "  ", "").person
    assert decision("accept", " Ann ", "note").person == "Ann"


def cost_report(*rows: CostRow, price: str = "3.60 EUR/h") -> CostReport:
    return CostReport("document", rows, Price.parse(price), None)


def test_costs_of_a_document_are_money_and_gpu_seconds_for_1000_pages() -> None:
    report = cost_report(CostRow("7", 10, 20.0, 40.0, 9_000, 1_000))
    line = drawn(lambda out: out.print(costs.chart(report, {"7": "Pumps"}))).splitlines()[1]
    assert line.split() == [
        "7", "Pumps", "10", "0.50", "1,000", "40.0", "4,000", "0.0400", "EUR", "4.00", "EUR"
    ]  # fmt: skip


def test_engines_that_count_no_tokens_have_none_in_the_table() -> None:
    report = cost_report(CostRow("7", 10, 20.0, 40.0, 0, 0), price="3.60")
    line = drawn(lambda out: out.print(costs.chart(report, {}))).splitlines()[1]
    assert line.split() == ["7", "10", "0.50", "40.0", "4,000", "0.0400", "4.00"]


def limit(ocr: float, split: float, gpu: float | None = None) -> Limit:
    gpus = () if gpu is None else (DeviceUse("gpu:0", 9, gpu, gpu, None, None, None, None),)
    return Limit(4, (StageUse(Stage.SPLIT, split, 2.0), StageUse(Stage.OCR, ocr, 30.0)), gpus)


@pytest.mark.parametrize(
    ("seen", "advice"),
    [
        (limit(0.3, 1.0), "add CPU: --jobs"),
        (limit(1.0, 0.3, gpu=0.95), "add a GPU or a server"),
        (limit(1.0, 0.3, gpu=0.4), "PAGEMILL_OCR_IN_FLIGHT"),
        (limit(1.0, 1.0), "add a GPU or a server"),
    ],
)
def test_what_holds_a_run_up_is_told_with_what_to_change(seen: Limit, advice: str) -> None:
    lines = costs.told(seen)
    assert lines[0].startswith(f"{seen.stage.stage} limits run 4: split " if seen.stage else "?")
    assert advice in lines[-1]
    assert any("1 GPU " in line for line in lines) == bool(seen.gpus)


def test_where_nothing_was_seen_nothing_is_advised() -> None:
    assert costs.told(Limit(4, (), ())) == []


def test_a_device_is_told_by_what_is_known_of_it() -> None:
    full = DeviceUse("gpu:0", 9, 0.75, 0.5, 20_480.0, 412.4, None, None)
    assert timing.device_told(full) == (
        "gpu:0: 75% busy (50% or more nine times in ten), 20.0 GiB at most, 412 W"
    )
    assert (
        timing.device_told(DeviceUse("pagemill", 1, 0.2, None, None, None, None, None))
        == "pagemill: 20% busy"
    )


def test_every_check_is_listed_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    show_checks(as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in found] == [one.code for one in (*CHECKS, *DOCUMENT_CHECKS)]
    assert [one["looks_at"] for one in found].count("neighbours") == len(DOCUMENT_CHECKS)
    assert all(one["about"] and one["remedy"] for one in found)
    show_checks(as_json=False)
    assert capsys.readouterr().out.count("(off)") == sum(one["is_optional"] for one in found)


def test_a_profile_for_programs_has_its_flags_and_sorted_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(home=tmp_path)
    show_profile(settings, "glm-ocr", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["scripts"] == sorted(told["scripts"])
    assert {flag["flag"] for flag in told["vlm"]["flags"]}
    show_profiles(settings, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in PROFILES)


@pytest.mark.parametrize("agrees", [True, False])
def test_terms_are_asked_for_at_a_terminal_and_an_answer_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool
) -> None:
    settings = load_settings(home=tmp_path)
    asked: list[str] = []
    monkeypatch.setattr(choosing, "_agrees", lambda profile: bool(asked.append(profile.name)) or agrees)
    if agrees:
        assert [choose_profile(settings, "chandra").name for _ in range(2)] == ["chandra"] * 2
    else:
        with pytest.raises(ConfigurationError) as caught:
            choose_profile(settings, "chandra")
        assert caught.value.code is Code.LICENCE_NOT_ACCEPTED
    assert asked == ["chandra"]


def test_terms_agreed_to_on_the_command_line_are_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "_agrees", lambda _: pytest.fail("nobody is to be asked"))
    assert choose_profile(load_settings(home=tmp_path), "chandra", is_accepted=True).name == "chandra"
