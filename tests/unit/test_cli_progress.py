"""Progress: how fast, how long, what is said and drawn."""

from rich.console import Console

from cli.progress.display import LiveDisplay, PlainDisplay, drawn, open_display
from cli.progress.lines import failure_line, head, left_over, line
from cli.progress.pace import Pace
from models.stage import Stage
from tests.unit import shown


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def console(*, terminal: bool = False) -> Console:
    return Console(
        width=100, force_terminal=terminal, record=True, markup=False, highlight=False, quiet=False
    )


def printed(out: Console) -> list[str]:
    return out.export_text().splitlines()


def paced(*steps: tuple[float, int], total: int = 100) -> Pace:
    """A pace that saw so many pages read at these times."""
    pace = Pace()
    for now, done in steps:
        pace.note(now, shown.progress((1, 1), (done, total)))
    return pace


def test_the_rate_is_pages_over_seconds() -> None:
    assert paced((0, 0), (10, 25)).rate(Stage.OCR) == 2.5


def test_pages_read_before_the_run_do_not_count_as_speed() -> None:
    assert paced((0, 1000), (10, 1010)).rate(Stage.OCR) == 1.0


def test_only_the_last_minute_counts() -> None:
    steps = [(t, 0) for t in range(0, 100, 10)] + [(t, t - 100) for t in range(100, 200, 10)]
    assert paced(*steps).rate(Stage.OCR) == 1.0


def test_nothing_is_said_of_the_speed_too_early() -> None:
    assert paced((0, 0)).rate(Stage.OCR) == 0
    assert paced((0, 0), (0.5, 3)).rate(Stage.OCR) == 0
    assert paced((0, 0)).seconds_left(shown.progress(ocr=(0, 9)).stages[1]) is None


def test_time_left_is_what_is_left_over_the_rate() -> None:
    pace = paced((0, 0), (10, 20))
    assert pace.seconds_left(shown.progress(ocr=(20, 100)).stages[1]) == 40
    assert pace.seconds_left(shown.progress(ocr=(100, 100)).stages[1]) == 0


def test_reading_pages_says_how_long_it_takes() -> None:
    pace = Pace()
    pace.note(0, shown.progress((0, 10), (0, 100)))
    pace.note(10, shown.progress((1, 10), (10, 100)))
    assert left_over(shown.progress((1, 10), (10, 100)), pace) == "1 min 30 s"
    assert left_over(shown.progress((5, 10), (0, 0)), pace) == "50 s"


def test_while_nothing_moves_no_time_is_invented() -> None:
    assert left_over(shown.progress((0, 10), (0, 100)), Pace()) == ""
    assert left_over(shown.progress((10, 10), (100, 100)), paced((0, 0), (10, 20))) == ""


def test_the_line_says_all_in_words() -> None:
    pace = paced((0, 0), (10, 20))
    text = line(shown.progress((3, 5), (20, 100), documents=6, refused=1, problems=2), pace)
    assert text == (
        "6 documents, 1 refused, 2 paths passed over: split 3/5 documents, ocr 20/100 pages; "
        "2.00 pages/s, 40 s left"
    )


def test_before_there_is_work_the_line_says_so() -> None:
    assert line(shown.progress(), Pace()) == "0 documents: nothing to do yet"
    assert head(shown.progress(documents=1)) == "1 document"


def test_a_failure_says_document_page_reason_and_code() -> None:
    text = failure_line(shown.failure())
    assert text == "failed: pumps.pdf, page 3: It took longer than 120 s. (ocr-timeout)"


def test_a_failure_of_a_whole_document_names_no_page() -> None:
    assert failure_line(shown.failure(page_no=0, code="corrupt", message="Cut off.")) == (
        "failed: pumps.pdf: Cut off. (corrupt)"
    )


def test_controls_in_names_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in failure_line(shown.failure(name="/scans/a\x1b[2J.pdf", message="b\x1b[1m"))


def test_plain_lines_come_every_five_seconds_and_failures_at_once_and_once() -> None:
    out, clock = console(), Clock()
    display = PlainDisplay(out, clock)
    display.show(shown.progress((0, 1), (0, 10)))
    clock.now += 1
    display.show(shown.progress((1, 1), (5, 10), shown.failure()))
    clock.now += 1
    display.show(shown.progress((1, 1), (6, 10), shown.failure()))
    clock.now += 4
    display.show(shown.progress((1, 1), (9, 10), shown.failure()))
    lines = printed(out)
    assert [one.split(":")[0] for one in lines] == ["1 document", "failed", "1 document"]
    assert "ocr 9/10 pages (1 failed)" in lines[2]


def test_plain_lines_are_not_repeated_while_nothing_moves() -> None:
    out, clock = console(), Clock()
    display = PlainDisplay(out, clock)
    for _ in range(3):
        display.show(shown.progress((1, 1), (0, 10)))
        clock.now += 60
    assert len(printed(out)) == 1


def test_failures_are_told_in_the_order_they_happened() -> None:
    out = console()
    newest_first = (shown.failure(2, page_no=9), shown.failure(1, page_no=4))
    PlainDisplay(out, Clock()).show(shown.progress((1, 1), (0, 10), *newest_first))
    assert ["page 4" in printed_line for printed_line in printed(out)][:2] == [True, False]


def test_the_table_shows_stages_speed_and_the_last_failures() -> None:
    out = console()
    failures = [shown.failure(number, page_no=number) for number in range(9, 0, -1)]
    out.print(drawn(shown.progress((1, 1), (20, 100), *failures), paced((0, 0), (10, 20))))
    text = out.export_text()
    assert "20/100" in text
    assert "2.00" in text
    assert text.count("failed: ") == 5
    assert text.index("page 5") < text.index("page 9")


def test_a_terminal_gets_a_live_table_that_goes_away() -> None:
    out = console(terminal=True)
    display = open_display(out)
    assert isinstance(display, LiveDisplay)
    display.show(shown.progress((1, 1), (20, 100)))
    display.say("Stopping")
    display.close()
    assert "Stopping" in out.export_text()


def test_a_pipe_gets_plain_lines() -> None:
    assert isinstance(open_display(console()), PlainDisplay)
