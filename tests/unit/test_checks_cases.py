"""Faults of served models that users of other projects reported: what comes of each answer here."""

import json
import random
from dataclasses import replace

import pytest

from bench.goodpages import div, read_as
from models.reading import BlockType, FinishReason
from models.verdict import Severity, Verdict
from models.vlm import Parser
from tasks.work.checks import check, check_document, verdict
from tests.unit.readings import CHINESE, FULL, PAGE, PROSE, codes, found, page_of

BLANK = replace(PAGE, ink=0.0, is_blank=True)


def judged(parser: Parser, answer: str, finish: FinishReason = FinishReason.STOP) -> tuple[Verdict, set[str]]:
    """Verdict and codes of an answer for a page of print."""
    reading = replace(read_as(parser, answer), finish_reason=finish)
    findings = check(reading, FULL)
    return verdict(reading, findings), {finding.code for finding in findings}


def table(*rows: list[str]) -> str:
    return (
        "<table>"
        + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
        + "</table>"
    )


@pytest.mark.parametrize(
    ("parser", "answer"),
    [
        ("text", "THIS FAR " * 4_000),
        ("markdown", f"{PROSE}\n\n" + "Chapter one" + " ." * 6_000),
        ("chandra", div("Text", "<p>" + "the same words " * 900)),
        ("chandra", div("Table", "<table><tr><td>" + "cell " * 900 + "</td><td>x</td></tr></table>")),
        ("chandra", div("Table", table(*[["Total amount", "12.50", "EUR"]] * 60))),
        ("chandra", div("Image", f'<img alt="{"a door and " * 400}"/>')),
        ("json", json.dumps({"text": "again and " * 400})),
        ("markdown", table(*[["0"]] * 4_000)),
    ],
    ids=["words", "dots", "html", "cell", "rows", "attribute", "json", "zeros-without-end"],
)
def test_c1_a_loop_is_found_whatever_the_server_says(parser: Parser, answer: str) -> None:
    outcome, seen = judged(parser, answer)
    assert outcome in {Verdict.BAD, Verdict.SUSPECT}
    assert seen & {"loop", "table-too-large"}


def test_c1_a_loop_that_the_server_stopped_is_bad_however_short() -> None:
    outcome, seen = judged("text", f"{PROSE} and so on and so on", FinishReason.REPETITION)
    assert (outcome, "repetition" in seen) == (Verdict.BAD, True)


@pytest.mark.parametrize(
    ("parser", "answer"),
    [
        ("chandra", div("Table", table(*[["0"]] * 60))),
        ("chandra", div("Table", table(*[["Available"] * 12] * 30))),
        ("markdown", "\n".join(f"{n}. Chapter {'i' * (n % 7)} {'.' * 90} {n * 3}" for n in range(1, 40))),
        ("text", "Yes [ ] No [ ]\n" * 40),
        ("chandra", div("Table", table(*[["Yes ☐", "No ☐"]] * 40))),
        ("json", json.dumps({"rows": [{"count": 0, "price": "0.00"}] * 60})),
    ],
    ids=["zeros", "grid", "contents", "boxes", "boxes-in-a-table", "json-zeros"],
)
def test_c1_honest_repeats_pass(parser: Parser, answer: str) -> None:
    assert "loop" not in judged(parser, answer)[1]


def test_c2_an_answer_cut_at_the_limit_is_bad_though_its_table_was_closed_for_it() -> None:
    answer = div("Table", "<table><tr><td>1</td><td>2</td></tr><tr><td>3")
    outcome, seen = judged("chandra", answer.removesuffix("</div>"), FinishReason.LENGTH)
    assert outcome is Verdict.BAD
    assert {"truncated", "html-repaired"} <= seen


@pytest.mark.parametrize("ink", [0.0, 0.0005, 0.004])
def test_c3_text_for_a_page_without_ink_is_refused(ink: float) -> None:
    reading = page_of("All warfare is based on deception.")
    assert verdict(reading, check(reading, replace(BLANK, ink=ink))) is Verdict.BAD


def test_c6_cells_made_up_to_fill_a_grid_differ_in_number() -> None:
    rows = [["a", "", "b"], ["", "c", ""], ["a", "", "b", "b", "b", "b"]]
    assert {"table-ragged", "column-jump"} <= judged("chandra", div("Table", table(*rows)))[1]


def test_c7_a_total_without_one_of_its_rows_is_found_where_that_is_asked_for() -> None:
    page = replace(PAGE, limits=PAGE.limits.model_copy(update={"enabled": ("sums-differ",)}))
    rows = [["Item", "Price"], ["Nail", "1.20"], ["Screw", "2.30"], ["Bolt", "4.00"], ["Total", "7.50"]]
    assert found(read_as("chandra", div("Table", table(*rows))), "sums-differ", page) is None
    assert found(read_as("chandra", div("Table", table(*rows[:2], *rows[3:]))), "sums-differ", page)


def test_c8_broken_html_is_mended_and_told_and_the_raw_answer_kept() -> None:
    answer = div("Table", "<table><tr><td>a<td>b</tr></table>")
    reading = read_as("chandra", answer)
    assert reading.blocks[0].rows == (("a", "b"),)
    assert reading.raw == answer
    small = replace(PAGE, ink=0.001)
    assert verdict(reading, check(reading, small)) is Verdict.REPAIRED
    assert "html-repaired" in codes(reading, small)


def test_c8_rows_of_eight_and_ten_cells_are_ragged() -> None:
    answer = div("Table", table(*[["x"] * 8] * 3, *[["y"] * 10] * 2))
    assert "table-ragged" in judged("chandra", answer)[1]


def test_c12_an_echo_of_the_prompt_is_found() -> None:
    page = replace(PAGE, prompt="Table Recognition:")
    assert found(read_as("markdown", f"Table Recognition:\n\n{PROSE}"), "prompt-echo", page)


def test_c13_descriptions_are_kept_apart_and_are_answers() -> None:
    reading = read_as(
        "chandra", div("Text", "<p>Yours, M. Hart</p>") + div("Image", '<img alt="A signature"/>')
    )
    assert "signature" not in reading.text
    assert BlockType.PICTURE in {block.type for block in reading.blocks}
    assert "text-lost" not in codes(reading)


HTML_PAGE = "".join(
    [
        div("Section-Header", "<h1>Report</h1>"),
        div("Section-Header", "<h2>Pumps</h2>"),
        div("Section-Header", "<h3>Main pump</h3>"),
        div("Text", "<p>It ran.<sup>1</sup> H<sub>2</sub>O, 5 m<sup>2</sup></p>"),
    ]
)


@pytest.mark.parametrize(
    ("parser", "answer"),
    [
        ("chandra", HTML_PAGE),
        ("chandra-2", HTML_PAGE),
        ("markdown", "# Report\n\n## Pumps\n\n### Main pump\n\nIt ran.$^{1}$ H$_{2}$O, 5 m$^2$"),
        (
            "markdown",
            "# Report\n## Pumps\n### Main pump\nIt ran.<sup>1</sup> H<sub>2</sub>O, 5 m<sup>2</sup>",
        ),
        (
            "markdown",
            "\\section{Report}\n\\subsection{Pumps}\n\\subsubsection{Main pump}\nIt ran.$^1$ H$_2$O, 5 m$^2$",
        ),
    ],
    ids=["chandra", "chandra-2", "glm-ocr", "html-in-markdown", "latex"],
)
def test_c15_headings_and_raised_print_have_one_form_whatever_the_model(parser: Parser, answer: str) -> None:
    blocks = [(block.type, block.level, block.text) for block in read_as(parser, answer).blocks]
    assert blocks == [
        (BlockType.HEADING, 1, "Report"),
        (BlockType.HEADING, 2, "Pumps"),
        (BlockType.HEADING, 3, "Main pump"),
        (BlockType.PARAGRAPH, 0, "It ran.¹ H₂O, 5 m²"),
    ]


def test_c19_gibberish_without_end_is_more_than_the_ink_draws() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("aeinrst", k=rng.randint(3, 9))) for _ in range(4_000)]
    assert "too-much-text" in codes(page_of(" ".join(words)), replace(PAGE, ink=0.05))


@pytest.mark.parametrize(
    "answer", ['{"shop": "Hart" "street": "Main St"}', '{"shop": "Hart", "street": "Main St']
)
def test_c20_broken_json_is_mended_and_its_text_kept(answer: str) -> None:
    reading = read_as("glm-json", answer)
    assert [row[1] for row in reading.blocks[0].rows] == ["Hart", "Main St"]
    assert verdict(reading, check(reading, PAGE)) is Verdict.REPAIRED


def test_c20_json_that_nothing_mends_is_bad_and_its_text_kept() -> None:
    reading = read_as("glm-json", f"The fields are missing. {PROSE}")
    assert verdict(reading, check(reading, PAGE)) is Verdict.BAD
    assert "committee" in reading.text


@pytest.mark.parametrize("answer", ["", "   ", "<|im_end|>", "```markdown\n```"])
def test_c21_nothing_for_a_page_of_print_is_an_error(answer: str) -> None:
    finding = found(read_as("markdown", answer), "empty-with-ink", FULL)
    assert finding is not None
    assert finding.severity is Severity.ERROR


def test_c25_a_page_read_as_another_language_differs_from_its_neighbours() -> None:
    words = PROSE.split()
    pages = {n: page_of(" ".join(words[n:] + words[:n])) for n in range(1, 6)}
    seen = check_document(pages | {3: page_of(CHINESE)})
    assert [finding.code for finding in seen[3]] == ["script-jump"]
