"""What is measured beside characters, on inputs whose figures can be told by hand."""

import pytest

from bench.marking import Marked, marking, missed
from bench.measures import interval, mean_of, order, wer, words
from models.verdict import Verdict

LINES = [
    "The pump stands under water",
    "when heavy rain has come",
    "and its valve was left open",
    "by those who went home early",
]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "rate"),
    [
        ("the cat sat down", "the cat sat down", 0.0),
        ("the cat sat down", "the  cat\nsat down", 0.0),
        ("the cat sat down", "the bat sat down", 0.25),
        ("the cat sat down", "the cat sat", 0.25),
        ("the cat", "the cat sat down", 1.0),
        ("the cat", "The cat,", 1.0),
        ("a b", "", 1.0),
        ("", "", 0.0),
        ("", "something", 1.0),
    ],
)
def test_a_word_wrong_missing_or_invented_counts_once(reference: str, hypothesis: str, rate: float) -> None:
    assert wer(reference, hypothesis) == rate


def test_each_chinese_character_is_a_word() -> None:
    assert words("安装 Debian 系统") == ["安", "装", "Debian", "系", "统"]
    assert wer("安装系统", "安装系充") == 0.25


def test_lines_in_their_order_have_a_tau_of_one_and_turned_round_of_minus_one() -> None:
    page = "\n".join(LINES)
    assert order(page, page) == 1.0
    assert order(page, "\n".join(reversed(LINES))) == -1.0


def test_one_line_moved_to_the_end_turns_half_of_the_pairs() -> None:
    # Four lines make six pairs; the first one moved behind the other three turns three of them.
    assert order("\n".join(LINES), "\n".join([*LINES[1:], LINES[0]])) == pytest.approx(0.0)


def test_short_doubled_and_missing_lines_tell_nothing_of_the_order() -> None:
    assert order("short\nlines\nonly", "only lines short") is None
    assert order(f"{LINES[0]}\n{LINES[0]}\n{LINES[1]}", LINES[1]) is None
    numbered = [f"entry number {number} of the same list" for number in range(4)]
    assert order("\n".join(numbered), "\n".join(numbered)) is None
    assert order("\n".join([*LINES[:2], "quite another passage here"]), "\n".join(LINES[:2])) == 1.0


def test_a_line_with_a_wrong_letter_still_has_its_place() -> None:
    assert order("\n".join(LINES), "\n".join(LINES).replace("valve", "va1ve")) == 1.0


def test_means_are_weighted() -> None:
    assert mean_of([(0.0, 3), (0.4, 1)]) == pytest.approx(0.1)
    assert mean_of([]) == mean_of([(0.5, 0)]) == 0.0


def test_few_documents_have_no_interval_and_equal_ones_a_narrow_one() -> None:
    assert interval([(0.1, 1), (0.2, 1)]) is None
    assert interval([(0.1, 1), (0.2, 1), (0.3, 0)]) is None
    assert interval([(0.1, 5)] * 9) == pytest.approx((0.1, 0.1))


def test_an_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    parts = [(n / 100, 1.0) for n in range(20)]
    bounds = interval(parts)
    assert bounds is not None
    assert bounds == interval(parts)
    # 0.095 ± 1.96 × 0.0577 / √20, by the normal distribution.
    assert bounds == pytest.approx((0.070, 0.120), abs=0.003)


def test_marks_are_judged_by_the_pages_that_are_wrong() -> None:
    seen = [
        Marked("a", 1, 0.5, Verdict.BAD),
        Marked("a", 1, 0.2, Verdict.GOOD),
        Marked("b", 1, 0.01, Verdict.SUSPECT),
        Marked("b", 1, 0.3, Verdict.SUSPECT),
        Marked("c", 1, 0.0, Verdict.REPAIRED),
    ]
    found = marking(seen, 0.1)
    assert (found.pages, found.wrong, found.marked, found.both) == (5, 3, 3, 2)
    assert found.precision == found.recall == pytest.approx(2 / 3)
    assert marking(seen, 0.25).recall == 1.0
    assert [page.error for page in missed(seen, 0.1)] == [0.2]


def test_without_marks_or_errors_there_is_no_share_of_them() -> None:
    found = marking([Marked("a", 1, 0.0, Verdict.GOOD)], 0.1)
    assert found.precision is None
    assert found.recall is None
    assert found.recall_between is None
