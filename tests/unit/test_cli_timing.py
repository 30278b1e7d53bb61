"""Timings: shares, bars, and the sentence that answers the question."""

import pytest
from rich.console import Console

from cli.timing import bar, chart, print_report, told
from models.stage import Outcome, Stage
from tests.unit import shown


def drawn(report: object, names: dict[str, str] | None = None) -> list[str]:
    out = Console(width=140, markup=False, highlight=False)
    with out.capture() as captured:
        out.print(chart(report, names or {}))  # type: ignore[arg-type]
    return [line.rstrip() for line in captured.get().splitlines()]


@pytest.mark.parametrize(
    ("share", "drawing"), [(0.0, ""), (1.0, "█" * 24), (0.5, "█" * 12), (1 / 192, "▏"), (0.001, "")]
)
def test_a_bar_is_as_long_as_its_share(share: float, drawing: str) -> None:
    assert bar(share) == drawing


def test_stages_stand_in_the_order_of_the_story() -> None:
    report = shown.timing_report(
        shown.timing_row("ocr", 8.0, 0.8),
        shown.timing_row("load", 1.5, 0.15),
        shown.timing_row("split", 0.5, 0.05),
    )
    assert [line.split()[0] for line in drawn(report)] == ["stage", "split", "ocr", "load"]


def test_a_row_has_seconds_share_bar_and_percentiles() -> None:
    row = shown.timing_row("ocr", 8.25, 0.75, page_p50_s=0.31, page_p95_s=1.2, cached=4, retries=2)
    (_, line) = drawn(shown.timing_report(row))
    assert line.split() == ["ocr", "1", "10", "4", "8.25", "75%", "█" * 18, "0.31", "1.20", "0.0", "s", "2"]


def test_documents_are_named_beside_their_ids() -> None:
    report = shown.timing_report(shown.timing_row("7", 2.0), by="document")
    assert drawn(report, {"7": "Pump manual"})[1].startswith("7  Pump manual")


@pytest.mark.parametrize(
    ("outcome", "name"),
    [(Outcome.OK, "3  ingest"), (Outcome.CANCELLED, "3  ingest, cancelled"), (None, "3  ingest")],
)
def test_a_run_says_what_it_was_and_when_it_did_not_end_well(outcome: Outcome | None, name: str) -> None:
    row = shown.timing_row("3", 2.0, kind="ingest", outcome=outcome)
    assert drawn(shown.timing_report(row, by="run"))[1].split("   ")[0].strip() == name


def test_runs_and_documents_show_the_time_between_first_and_last() -> None:
    head, line = drawn(shown.timing_report(shown.timing_row("1", wall_s=185.0), by="run"))
    assert head.endswith("first to last")
    assert line.endswith("3 min 05 s")
    assert "first to last" not in drawn(shown.timing_report(shown.timing_row("ocr")))[0]


def test_pages_that_took_no_time_have_no_percentiles() -> None:
    row = shown.timing_row("ocr", cached=10, page_p50_s=None, page_p95_s=None)
    assert "None" not in "".join(drawn(shown.timing_report(row)))


def test_the_sentence_names_the_stage_that_limits() -> None:
    report = shown.timing_report(shown.timing_row("ocr", 30.0, 0.75), shown.timing_row("split", 10.0, 0.25))
    assert told(report, None) == "ocr limits the pipeline: 75% of 40 s of work, 3.00 s a page."


def test_the_sentence_about_a_document_says_where_its_time_went() -> None:
    report = shown.timing_report(shown.timing_row("ocr", 3.0, 1.0, pages=2))
    assert told(report, shown.document()) == (
        "The time of document 7 went mostly into ocr: 100% of 3.0 s of work, 1.50 s a page."
    )


def test_with_everything_cached_no_rate_is_invented() -> None:
    report = shown.timing_report(shown.timing_row("load", 0.5, pages=3, cached=3), limiting=Stage.LOAD)
    assert told(report, None).endswith("0.5 s of work, 3 pages.")


def test_other_tables_name_the_limiting_stage_too() -> None:
    report = shown.timing_report(shown.timing_row("1", 12.0), by="run")
    assert told(report, None) == "12 s of work in all; most of it per worker in ocr."


def test_without_work_nothing_limits() -> None:
    report = shown.timing_report(shown.timing_row("ocr", 0.0, 0.0), limiting=None)
    assert told(report, None) == "No work was needed: everything had been done before."


def test_in_a_narrow_terminal_every_figure_stays_whole_and_bars_are_left_out() -> None:
    rows = [
        shown.timing_row(stage, 1234.5, 0.5, page_p50_s=12.34, page_p95_s=45.67)
        for stage in ("preprocess", "ocr")
    ]
    out = Console(width=80, markup=False, highlight=False)
    with out.capture() as captured:
        print_report(shown.timing_report(*rows), None, {}, out)
    lines = [line for line in captured.get().splitlines() if "█" in line or "1234.50" in line]
    assert [line.split()[0] for line in lines] == ["preprocess", "ocr"]
    assert all({"12.34", "45.67", "50%"} <= set(line.split()) and "█" not in line for line in lines)
