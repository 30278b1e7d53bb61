"""Readings made to break a check: each ends soon, in bounded memory, and marks the page."""

import random
import time
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.engine import OcrRequest
from models.geometry import Box, Transform
from models.page import PageImage, Word
from models.profiles import get
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import PageUnderCheck, Verdict
from tasks.work.checks import check, check_document, verdict
from tasks.work.checks.formulas import fault_of
from tasks.work.repair import mend_json, repair
from tests.unit.readings import PAGE, PROSE, page_of, table_of

pytestmark = pytest.mark.slow

# CPU seconds for any check of any reading, on a machine that is busy; good pages take milliseconds.
LIMIT_S = 2.0
MEGABYTE = 1_000_000
ASKED = replace(PAGE, languages=("en",), prompt="Convert the page to Markdown exactly as printed. " * 9)

HOSTILE = {
    "a megabyte of one letter": "x" * MEGABYTE,
    "a megabyte of prose": (PROSE * (MEGABYTE // len(PROSE) + 1))[:MEGABYTE],
    "a megabyte of noise": "".join(random.Random(1).choices("abc <>&$`\\{}[]|\"'\n", k=MEGABYTE)),
    "200,000 combining marks": "a" + "\u0301\u0316" * 100_000,
    "half characters": "\ud835" * 200_000,
    "fences": "```\n" * 200_000,
    "fences without lines": "`" * MEGABYTE,
    "open tags": "<div " * 200_000,
    "tags with open attributes": '<div data-bbox="' * 60_000,
    "quotes": '"' * MEGABYTE,
    "brackets": "[[" * 400_000,
    "boxes": "[[1,2,3,4" * 100_000,
    "dollars": "$" * MEGABYTE,
    "formulas": r"$\frac{a}{b" * 90_000,
    "backslashes": "\\" * MEGABYTE,
    "token starts": "<|" * 400_000,
    "token inside": "<|" + "a" * MEGABYTE,
    "spaces": " " * MEGABYTE + "x",
    "new lines": "\n" * MEGABYTE + "x",
    "sorry": "I'm sorry, I cannot " * 50_000,
    "almost sorry": "the image you have " * 50_000,
    "words": "no visible readable legible " * 40_000,
    "numbers": "1234567890 " * 90_000,
    "entities": "&#1234" * 150_000,
    "dots": ". " * 500_000,
    "json": '{"a":' * 200_000,
    "polyglot": ("<|im_end|></s>```\n$$\\left(<td>" * 40_000)[:MEGABYTE],
}


def cpu_s(work: object, *args: object) -> float:
    started = time.process_time()
    work(*args)
    return time.process_time() - started


@pytest.fixture(autouse=True, scope="module")
def warm() -> None:
    """Models and tables that are loaded once."""
    check(page_of(PROSE + "$x$"), ASKED)
    fault_of("x")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reading_is_checked_in_time_and_marked(name: str) -> None:
    text = HOSTILE[name]
    blocks = (Block(BlockType.PARAGRAPH, text),)
    reading = Reading(ReadingSource.OCR, text, blocks, raw=text)
    started = time.process_time()
    findings = check(reading, ASKED)
    assert time.process_time() - started < LIMIT_S
    assert verdict(reading, findings) is Verdict.BAD


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_mended_in_time(name: str) -> None:
    assert cpu_s(repair, HOSTILE[name]) < LIMIT_S
    assert cpu_s(mend_json, HOSTILE[name]) < LIMIT_S


def test_a_table_of_ten_thousand_cells_is_checked_in_time() -> None:
    reading = table_of([[f"cell {n * m}" for n in range(100)] for m in range(100)])
    started = time.process_time()
    findings = check(reading, ASKED)
    assert time.process_time() - started < LIMIT_S
    assert "table-too-large" in {finding.code for finding in findings}


def test_a_table_of_ten_thousand_long_cells_is_checked_in_time() -> None:
    assert cpu_s(check, table_of([["again and " * 30] * 100] * 100), ASKED) < LIMIT_S


def test_html_nested_five_thousand_deep_is_checked_in_time_and_marked() -> None:
    reading = page_of("x", raw="<div>" * 5_000 + "x" + "</div>" * 5_000)
    started = time.process_time()
    findings = check(reading, ASKED)
    assert time.process_time() - started < LIMIT_S
    assert verdict(reading, findings) is Verdict.BAD


@pytest.mark.parametrize(
    "latex",
    [
        "{" * 5_000,
        r"\frac" * 300,
        r"\sqrt[" * 200,
        "^" * 1_400,
        r"\left(" * 200,
        r"\begin{a}" * 150,
        "$" * 999,
    ],
)
def test_a_hostile_formula_ends_in_time(latex: str) -> None:
    block = Block(BlockType.FORMULA, latex)
    assert cpu_s(fault_of, latex) < LIMIT_S
    assert cpu_s(check, Reading(ReadingSource.OCR, latex, (block,)), PAGE) < LIMIT_S


def test_a_document_of_hostile_pages_is_compared_in_time() -> None:
    pages = {number: page_of(text) for number, text in enumerate(list(HOSTILE.values())[:8], 1)}
    assert cpu_s(check_document, pages) < LIMIT_S * len(pages)


def test_a_text_layer_of_marks_is_folded_in_time(tmp_path) -> None:
    image = PageImage("0" * 64, ".jpg", 100, 200, Transform.scale(1, 1), 0.1, is_blank=False)
    words = (Word("a" + "\u0301\u0316" * 100_000, Box(0, 0, 9, 9)),) * 3
    profile = get("ppocr")
    request = OcrRequest(image, tmp_path, 100, 200, profile.recipe(), words=words)
    assert cpu_s(PageUnderCheck.of, request, profile) < LIMIT_S


def test_memory_stays_within_a_few_copies_of_the_reading() -> None:
    text = HOSTILE["a megabyte of noise"]
    reading = Reading(ReadingSource.OCR, text, (Block(BlockType.PARAGRAPH, text),), raw=text)
    tracemalloc.start()
    try:
        check(reading, ASKED)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * MEGABYTE


_PIECES = st.sampled_from(
    [
        "<|",
        "|>",
        "<div",
        'data-bbox="',
        ">",
        "```",
        "$",
        "$$",
        "\\frac{",
        "}",
        "[[1,2,",
        "3,4]]",
        "&amp;",
        "</s>",
        "<td>",
        '{"bbox":',
        "0",
        ".",
        "sorry",
        "image",
        "界",
        "ا",
        "\n",
        "I cannot read ",
        "�",
        "\x00",
        "é",
    ]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_PIECES, min_size=1, max_size=12), st.integers(1, 4_000))
def test_any_pieces_repeated_any_times_end_in_time(pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    reading = Reading(ReadingSource.OCR, text, (Block(BlockType.PARAGRAPH, text),), raw=text)
    assert cpu_s(check, reading, ASKED) < LIMIT_S
    assert cpu_s(repair, text) < LIMIT_S


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400), st.text(max_size=200))
def test_no_text_breaks_a_check(text: str, prompt: str) -> None:
    check(page_of(text, raw=text), replace(ASKED, prompt=prompt))
    check_document({1: page_of(text), 2: page_of(prompt), 3: page_of(text)})
