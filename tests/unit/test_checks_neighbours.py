"""Scripts, languages and running lines: a page against its recipe and against the pages around it."""

import subprocess
import sys
from dataclasses import replace

import pytest

from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import Severity
from tasks.work.checks import check_document
from tasks.work.checks.languages import language_of, main_script
from tasks.work.checks.neighbours import language_jump, leaves
from tests.unit.readings import CHINESE, GERMAN, PAGE, PROSE, RUSSIAN, codes, found, page_of

LIMITS = CheckLimits()
JAPANESE = (
    "委員会は火曜日に新しい道路について話し合うために集まりました。進路に反対する人はいませんでしたが、" * 3
)


def book(*texts: str) -> dict[int, Reading]:
    """Pages from 1 on, each beginning at another word."""
    return {number: page_of(_from_word(7 * number, text)) for number, text in enumerate(texts, 1)}


def _from_word(start: int, text: str) -> str:
    words = text.split()
    return " ".join(words[start:] + words[:start])


def book_with(header: str, pages: int, *without: int) -> dict[int, Reading]:
    """Pages of prose under a header that some of them lack."""
    found = {}
    for number in range(1, pages + 1):
        body = Block(BlockType.PARAGRAPH, PROSE + str(number))
        head = Block(BlockType.HEADER, f"{header} {number}")
        blocks = (body,) if number in without else (head, body)
        found[number] = Reading(ReadingSource.OCR, "\n".join(block.text for block in blocks), blocks)
    return found


def seen(pages: dict[int, Reading], limits: CheckLimits | None = None) -> dict[int, list[str]]:
    return {number: [f.code for f in findings] for number, findings in check_document(pages, limits).items()}


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        (PROSE, "en", "latin"),
        (GERMAN, "de", "latin"),
        (RUSSIAN, "ru", "cyrillic"),
        (CHINESE, "zh", "han"),
        (JAPANESE, "ja", "kana"),
    ],
)
def test_languages_and_scripts_are_told(text: str, language: str, script: str) -> None:
    assert (language_of(text, LIMITS), main_script(text, LIMITS)) == (language, script)


@pytest.mark.parametrize("text", ["", "Invoice 12", "12.50 EUR 13.00 EUR\n" * 60, "A1 B2 C3 D4\n" * 60])
def test_too_few_words_tell_no_language(text: str) -> None:
    assert language_of(text, LIMITS) == ""


def test_a_mixture_has_no_main_script() -> None:
    assert main_script("слово word " * 9, LIMITS) == ""
    assert main_script("12 + 13", LIMITS) == ""


def test_a_language_that_the_recipe_does_not_expect_is_doubtful() -> None:
    page = replace(PAGE, languages=("en", "fr"))
    finding = found(page_of(GERMAN), "language-unexpected", page)
    assert finding is not None
    assert finding.evidence == {"language": "de"}
    assert codes(page_of(PROSE), page) == []
    assert codes(page_of(GERMAN), replace(PAGE, languages=("de",))) == []


def test_without_expected_languages_any_passes() -> None:
    assert codes(page_of(RUSSIAN)) == []


def test_a_page_in_another_script_than_its_neighbours_is_found() -> None:
    assert seen(book(PROSE, PROSE, RUSSIAN, PROSE, PROSE)) == {3: ["script-jump"]}
    assert seen(book(CHINESE, PROSE, CHINESE)) == {2: ["script-jump"]}


def test_a_page_in_another_language_than_its_neighbours_is_found() -> None:
    finding = check_document(book(GERMAN, GERMAN, PROSE, GERMAN))[3][0]
    assert (finding.code, finding.severity) == ("language-jump", Severity.WARNING)
    assert finding.evidence == {"language": "en", "around": "de"}


def test_documents_that_mix_pass() -> None:
    assert seen(book(PROSE, GERMAN, PROSE, GERMAN, PROSE)) == {}
    assert seen(book(PROSE, PROSE, RUSSIAN, RUSSIAN, RUSSIAN)) == {}
    assert seen(book(PROSE, RUSSIAN)) == {}
    assert seen(book(RUSSIAN, f"{PROSE} {RUSSIAN}", RUSSIAN)) == {}


def test_a_page_of_figures_and_one_that_quotes_are_in_no_other_script() -> None:
    assert seen(book(PROSE, PROSE, "1,204 33 (7) 2,050 " * 40, PROSE)) == {}
    quoting = f"{PROSE} {RUSSIAN} {RUSSIAN}"
    assert main_script(quoting, LIMITS) == "cyrillic"
    assert seen(book(PROSE, PROSE, quoting, PROSE)) == {}


def test_blank_and_missing_pages_are_no_neighbours() -> None:
    pages = book(PROSE, PROSE, RUSSIAN, PROSE) | {5: Reading(ReadingSource.NONE, "", ())}
    assert seen(pages) == {3: ["script-jump"]}
    assert check_document({}) == {}
    assert check_document({7: page_of(PROSE)}) == {}


def test_a_header_that_one_page_lost_is_found() -> None:
    finding = check_document(book_with("Report of the road committee", 7, 4))[4][0]
    assert (finding.code, finding.evidence["lines"]) == ("running-line-lost", 1)


@pytest.mark.parametrize("order", [1, -1])
def test_without_types_the_first_and_last_lines_are_headers_and_footers(order: int) -> None:
    line = "Report of the road committee"
    bodies = {n: _from_word(7 * n, PROSE) for n in range(1, 8)}
    pages = {n: page_of("\n".join([f"{line} {n}", body][::order])) for n, body in bodies.items()}
    assert seen(pages | {4: page_of(PROSE)}) == {4: ["running-line-lost"]}


def test_where_headers_are_told_a_first_line_of_text_is_none() -> None:
    pages = {}
    for number in range(1, 8):
        greeting = "Dear members of the committee," if number != 4 else "And furthermore:"
        head = Block(BlockType.HEADER, f"Report of the road committee {number}")
        blocks = (Block(BlockType.PARAGRAPH, f"{greeting}\n{PROSE}"), head)
        pages[number] = Reading(ReadingSource.OCR, "\n".join(block.text for block in blocks), blocks)
    assert seen(pages) == {}


@pytest.mark.parametrize("without", [(), (1,), (7,), (1, 7), (1, 2), (6, 7)])
def test_first_and_last_pages_need_no_header(without: tuple[int, ...]) -> None:
    assert seen(book_with("Report of the road committee", 7, *without)) == {}


def test_a_page_number_alone_is_no_running_line() -> None:
    assert seen(book_with("Page", 7, 4)) == {}


def test_a_header_that_was_read_as_text_is_not_lost() -> None:
    pages = book_with("Report of the road committee", 7, 4)
    text = f"Report of the road comittee 4\n{PROSE}"
    assert seen(pages | {4: page_of(text)}) == {}


def test_a_short_page_needs_no_header() -> None:
    pages = book_with("Report of the road committee", 7)
    assert seen(pages | {4: page_of("Part two")}) == {}


def test_headers_of_left_and_right_pages_are_told_apart() -> None:
    left, right = book_with("Minutes of June", 8, 4), book_with("A report by M. Hart", 8)
    pages = {number: (left if number % 2 == 0 else right)[number] for number in range(1, 9)}
    assert seen(pages) == {4: ["running-line-lost"]}


def test_checks_of_documents_can_be_disabled() -> None:
    limits = CheckLimits(disabled=("script-jump",))
    assert seen(book(PROSE, PROSE, RUSSIAN, PROSE), limits) == {}


def test_a_document_of_two_pages_needs_no_languages() -> None:
    known = leaves(book(PROSE, GERMAN), LIMITS)
    assert [language_jump(number, known, LIMITS) for number in known] == [None, None]
    assert not any("language" in vars(leaf) for leaf in known.values())


def test_pages_that_share_their_words_need_no_languages() -> None:
    known = leaves(book(PROSE, PROSE, PROSE, GERMAN, PROSE), LIMITS)
    assert language_jump(2, known, LIMITS) is None
    assert "language" not in vars(known[2])
    assert language_jump(4, known, LIMITS) is not None


def test_one_page_of_few_letters_needs_no_languages_of_others() -> None:
    known = leaves(
        book(PROSE, PROSE, "Fig. of a pump and its tale, whose lid is black and not of wood", PROSE), LIMITS
    )
    assert language_jump(3, known, LIMITS) is None
    assert not any("language" in vars(known[number]) for number in (1, 2, 4))


def test_pages_in_other_scripts_than_their_neighbours_need_no_languages() -> None:
    known = leaves(book(RUSSIAN, PROSE, RUSSIAN), LIMITS)
    assert language_jump(2, known, LIMITS) is None
    assert "language" not in vars(known[2])


@pytest.mark.slow
def test_lanes_that_ask_for_a_language_at_once_load_the_model_once() -> None:
    script = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from py3langid import langid\n"
        "from models.limits import CheckLimits\n"
        "from tasks.work.checks.languages import language_of\n"
        "load, loaded = langid._load_identifier, []\n"
        "langid._load_identifier = lambda: loaded.append(1) or load()\n"
        "text = 'The committee met on Tuesday to speak about the new road. ' * 9\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    told = list(pool.map(lambda _: language_of(text, CheckLimits()), range(4)))\n"
        "print(told, len(loaded))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['en', 'en', 'en', 'en'] 1\n"
