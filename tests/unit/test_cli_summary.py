"""The end of an ingest: table, counts, exit code, what to type next."""

from rich.console import Console

from cli.exits import Exit
from cli.output import to_json
from cli.summary import counts, exit_of, hints, print_interrupted, print_summary, report_of, verdicts
from models.document import DocumentStatus, ScanProblem
from models.summary import RunSummary
from models.verdict import Verdict
from tests.unit import shown

GONE = ScanProblem("/scans/gone.pdf", "source-gone", "It is not there any more.")
HIDDEN = ScanProblem("/scans/.git", "ignored-hidden", "Hidden.")
REJECTED = shown.document_summary(
    id=9,
    status=DocumentStatus.REJECTED,
    page_count=None,
    verdicts={},
    seconds=0.0,
    code="empty",
    message="The file is empty.",
)


def printed(summary: RunSummary, width: int = 140) -> str:
    out = Console(width=width, markup=False, highlight=False)
    with out.capture() as captured:
        print_summary(out, summary)
    return captured.get()


def test_whole_documents_end_with_0() -> None:
    assert exit_of(shown.run_summary(shown.document_summary())) is Exit.OK


def test_a_refused_document_ends_with_3() -> None:
    assert exit_of(shown.run_summary(shown.document_summary(), REJECTED)) is Exit.INCOMPLETE


def test_a_path_that_could_not_be_read_ends_with_3() -> None:
    assert exit_of(shown.run_summary(shown.document_summary(), problems=(GONE,))) is Exit.INCOMPLETE


def test_a_path_left_out_on_purpose_changes_nothing() -> None:
    assert exit_of(shown.run_summary(shown.document_summary(), problems=(HIDDEN,))) is Exit.OK


def test_verdicts_are_counted_in_their_order() -> None:
    mixed = shown.document_summary(verdicts={Verdict.BLANK: 1, Verdict.GOOD: 12, Verdict.BAD: 2})
    assert verdicts(mixed) == "12 good, 2 bad, 1 blank"


def test_the_table_has_a_line_for_each_document_with_its_reason() -> None:
    lines = printed(shown.run_summary(shown.document_summary(), REJECTED)).splitlines()
    assert lines[0].split() == ["id", "document", "pages", "verdicts", "status", "seconds", "reason"]
    assert lines[1].split() == ["7", "pumps.pdf", "2", "2", "good", "complete", "1.5"]
    assert "The file is empty. (empty)" in lines[2]


def test_a_narrow_terminal_leaves_names_and_reasons_room() -> None:
    name = "minutes-2026-11.pdf"
    lines = printed(shown.run_summary(shown.document_summary(name=name), REJECTED), width=80).splitlines()
    assert lines[0].split() == ["id", "document", "pages", "status", "reason"]
    assert lines[1].split() == ["7", name, "2", "complete"]


def test_documents_read_before_are_marked() -> None:
    assert "read before" in printed(shown.run_summary(shown.document_summary(seen_as="known", seconds=0.0)))


def test_documents_that_an_interrupted_run_left_are_not_called_read() -> None:
    left = shown.document_summary(seen_as="known", seconds=0.0, status=DocumentStatus.PENDING)
    assert "read before" not in printed(shown.run_summary(left))


def test_paths_that_could_not_be_read_are_listed_and_hidden_ones_counted() -> None:
    text = printed(shown.run_summary(shown.document_summary(), problems=(GONE, HIDDEN)))
    assert "not read: /scans/gone.pdf: It is not there any more. (source-gone)" in text
    assert "/scans/.git" not in text
    assert "1 path passed over" in text


def test_the_counts_say_documents_pages_and_time() -> None:
    summary = shown.run_summary(shown.document_summary(), REJECTED)
    assert counts(summary) == "2 documents: 1 complete, 1 rejected. 2 pages read in 1 min 15 s."


def test_of_many_documents_only_those_that_want_attention_are_listed() -> None:
    many = [shown.document_summary(id=number) for number in range(100)]
    text = printed(shown.run_summary(*many, REJECTED))
    assert "The file is empty." in text
    assert "pumps.pdf" in text
    assert "… and 100 more documents: pagemill status" in text
    assert len(text.splitlines()) < 10


def test_the_hints_name_what_is_there_to_look_at() -> None:
    review = shown.document_summary(id=4, status=DocumentStatus.NEEDS_REVIEW)
    lines = hints(shown.run_summary(shown.document_summary(), review, REJECTED))
    assert any("pagemill search" in line for line in lines)
    assert any("pagemill show 9" in line for line in lines)
    assert any("pagemill show 4" in line for line in lines)


def test_nothing_found_is_said() -> None:
    assert hints(shown.run_summary()) == ["No documents were found there."]
    assert exit_of(shown.run_summary()) is Exit.OK


def test_an_interrupted_run_says_what_is_left_and_how_to_go_on() -> None:
    out = Console(width=140, markup=False, highlight=False)
    pending = shown.document_summary(status=DocumentStatus.PENDING)
    with out.capture() as captured:
        print_interrupted(out, shown.run_summary(shown.document_summary(), pending), ["ingest", "my scans"])
    assert "1 document not finished" in captured.get()
    assert "  pagemill ingest 'my scans'\n" in captured.get()


def test_the_json_report_has_run_documents_problems_and_exit_code() -> None:
    report = report_of(shown.run_summary(shown.document_summary(), problems=(GONE,)), Exit.INCOMPLETE)
    assert (report.seconds, report.pages_read, report.exit_code) == (75.0, 2, 3)
    text = to_json(report)
    assert '"verdicts": {\n        "good": 2' in text
    assert '"status": "complete"' in text
