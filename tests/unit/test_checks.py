"""Checks on one reading each: what must be found, and what must pass."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.engine import OcrRequest
from models.geometry import Box, Transform
from models.limits import CheckLimits
from models.page import PageImage, Word
from models.profiles import get
from models.reading import Block, BlockType, FinishReason, Reading, ReadingSource
from models.text import clean
from models.verdict import Finding, PageUnderCheck, Severity
from models.vlm import Pixels, Task, Vlm
from tasks.work.checks import CHECKS, check

# Of little ink, for the texts here are short.
PAGE = PageUnderCheck(595, 842, ink=0.0017, pixels=1540 * 1089, reads=frozenset({"latin", "han"}))
BLANK = replace(PAGE, ink=0.0, is_blank=True)
LINES = "Every line of this page is another one, as lines of real pages are.\n"


def page_of(text: str, **changes: object) -> Reading:
    """A reading of one paragraph."""
    blocks = (Block(BlockType.PARAGRAPH, text, Box(50, 50, 500, 700)),) if text else ()
    return replace(Reading(ReadingSource.OCR, text, blocks), **changes)


def codes(reading: Reading, page: PageUnderCheck = PAGE) -> list[str]:
    return [finding.code for finding in check(reading, page)]


def only(reading: Reading, page: PageUnderCheck = PAGE) -> Finding:
    (finding,) = check(reading, page)
    return finding


def test_plain_text_has_no_findings() -> None:
    assert check(page_of(LINES, confidence=0.98, layer_agreement=0.97), PAGE) == ()


def test_codes_are_unique_and_described() -> None:
    names = [one.code for one in CHECKS]
    assert len(set(names)) == len(names)
    assert all(one.about and one.remedy and not one.about.endswith(".") for one in CHECKS)


def test_an_answer_cut_at_the_token_limit_is_truncated() -> None:
    found = only(page_of("and so the last", finish_reason=FinishReason.LENGTH, tokens_out=4096))
    assert (found.code, found.severity, found.evidence) == ("truncated", Severity.ERROR, {"tokens": 4096})


def test_an_engine_that_stopped_a_loop_is_believed() -> None:
    found = only(page_of(LINES, finish_reason=FinishReason.REPETITION))
    assert (found.code, found.severity) == ("repetition", Severity.ERROR)


def test_a_loop_is_found_although_the_engine_said_stop() -> None:
    found = check(page_of("THIS FAR " * 4000), PAGE)[0]
    assert (found.code, found.severity, found.evidence["period"]) == ("loop", Severity.ERROR, 9)


def test_a_line_reader_cannot_loop() -> None:
    assert codes(page_of("Available " * 360), replace(PAGE, ink=0.1, finds_lines=True)) == []


def test_an_empty_answer_for_a_page_of_text_is_an_error() -> None:
    found = only(page_of(""))
    assert (found.code, found.severity) == ("empty-with-ink", Severity.ERROR)


def test_an_empty_answer_against_the_text_layer_is_an_error_for_every_engine() -> None:
    page = replace(PAGE, finds_lines=True, layer_words=120)
    found = check(page_of("", layer_agreement=0.0), page)
    assert [(f.code, f.severity) for f in found] == [
        ("empty-with-ink", Severity.ERROR),
        ("layer-disagreement", Severity.WARNING),
    ]


def test_a_picture_without_a_line_on_it_is_no_fault() -> None:
    found = only(page_of(""), replace(PAGE, ink=0.3, finds_lines=True))
    assert (found.code, found.severity) == ("no-text-found", Severity.INFO)


def test_a_sparse_page_without_a_line_is_doubtful() -> None:
    found = only(page_of(""), replace(PAGE, ink=0.02, finds_lines=True))
    assert (found.code, found.severity) == ("no-text-found", Severity.WARNING)


def test_a_described_picture_is_an_answer() -> None:
    picture = Block(BlockType.PICTURE, "A church by a river", Box(0, 0, 595, 842))
    assert codes(Reading(ReadingSource.OCR, "", (picture,)), replace(PAGE, ink=0.4)) == []


def test_a_blank_page_that_nobody_read_has_no_findings() -> None:
    assert check(Reading(ReadingSource.NONE, "", ()), BLANK) == ()


def test_fluent_text_for_a_blank_page_is_refused() -> None:
    found = check(page_of("All warfare is based on deception."), BLANK)[0]
    assert (found.code, found.severity) == ("text-on-blank", Severity.ERROR)


@pytest.mark.parametrize("dirty", ["a\x00b", "a\ud835b", "a\x0cb", "a\x85b"])
def test_uncleaned_text_is_found(dirty: str) -> None:
    assert "control-characters" in codes(page_of(dirty))


def test_an_uncleaned_cell_is_found() -> None:
    table = Block(BlockType.TABLE, "ab", rows=(("a\x00b",),))
    assert "control-characters" in codes(Reading(ReadingSource.OCR, "ab", (table,)))


@settings(max_examples=40)
@given(st.text())
def test_cleaned_text_is_never_called_unclean(text: str) -> None:
    assert "control-characters" not in codes(page_of(clean(text)))


def test_text_that_reached_no_block_is_an_error() -> None:
    reading = replace(page_of("Total 42"), blocks=(Block(BlockType.PARAGRAPH, "Total"),))
    found = only(reading)
    assert (found.code, found.evidence) == ("text-lost", {"lost": 2, "added": 0})


def test_order_and_white_space_of_blocks_are_free() -> None:
    blocks = (Block(BlockType.PARAGRAPH, "two words"), Block(BlockType.FOOTER, "3"))
    assert codes(Reading(ReadingSource.OCR, "3\ntwo\nwords", blocks)) == []


def test_a_layer_of_other_words_makes_a_page_doubtful() -> None:
    assert only(page_of(LINES, layer_agreement=0.2)).code == "layer-disagreement"


def test_gibberish_without_end_is_more_than_the_ink_can_draw() -> None:
    gibberish = "".join(random.Random(7).choices("abcdefgh ", k=40_000))
    assert codes(page_of(gibberish), replace(PAGE, ink=0.05)) == ["too-much-text"]


def test_of_a_blank_page_and_of_a_text_layer_no_ink_is_asked() -> None:
    gibberish = "".join(random.Random(7).choices("abcdefgh ", k=40_000))
    assert codes(page_of(gibberish), BLANK) == ["text-on-blank"]
    assert "too-much-text" not in codes(page_of(gibberish, source=ReadingSource.TEXT_LAYER), PAGE)


def test_dense_small_print_is_not_too_much() -> None:
    # The densest page measured: 7,969 characters at 17 % ink.
    words = random.Random(7).choices(LINES.split(), k=1600)
    assert codes(page_of(" ".join(words)), replace(PAGE, ink=0.17)) == []


def test_a_few_characters_on_a_page_of_print_are_too_little() -> None:
    assert only(page_of("and so on"), replace(PAGE, ink=0.1)).code == "too-little-text"


def test_a_photo_with_a_word_on_it_is_not_too_little() -> None:
    picture = Block(BlockType.PICTURE, "A shop front", Box(0, 0, 595, 842))
    sign = Block(BlockType.PARAGRAPH, "OPEN")
    assert codes(Reading(ReadingSource.OCR, "OPEN", (sign, picture)), replace(PAGE, ink=0.1)) == []
    assert codes(page_of("OPEN"), replace(PAGE, ink=0.3)) == []
    assert codes(page_of("OPEN"), replace(PAGE, ink=0.1, finds_lines=True)) == []


def test_more_than_any_page_holds_is_an_error() -> None:
    page = replace(PAGE, ink=0.9)
    text = " ".join(random.Random(3).choices(LINES.split(), k=25_000))
    assert [(f.code, f.severity) for f in check(page_of(text), page)] == [("answer-too-long", Severity.ERROR)]
    assert "answer-too-long" not in codes(page_of(text[:90_000]), page)
    assert "answer-too-long" in codes(page_of("x", notes=("answer-too-long",)))


def test_letters_that_the_profile_cannot_read_are_named() -> None:
    page = replace(PAGE, layer_scripts={"cyrillic": 900, "latin": 20}, layer_words=200)
    found = only(page_of("MaKeTbI", layer_agreement=0.6), page)
    assert (found.code, found.evidence["script"]) == ("script-unsupported", "cyrillic")


def test_scripts_of_a_layer_taken_as_it_is_do_not_matter() -> None:
    reading = page_of("Макеты документов", source=ReadingSource.TEXT_LAYER, layer_agreement=1.0)
    assert codes(reading, replace(PAGE, layer_scripts={"cyrillic": 16})) == []


def test_a_few_foreign_letters_pass() -> None:
    assert codes(page_of("The angle α and the ratio π of a circle to its diameter")) == []


def test_an_engine_that_is_not_sure_makes_a_page_doubtful() -> None:
    found = only(page_of(LINES, confidence=0.5))
    assert (found.code, found.severity) == ("low-confidence", Severity.WARNING)


@pytest.mark.parametrize("box", [Box(-20, 0, 100, 50), Box(0, 0, 700, 50), Box(0, 800, 100, 900)])
def test_a_box_off_the_page_is_found(box: Box) -> None:
    reading = replace(page_of("x"), blocks=(Block(BlockType.PARAGRAPH, "x", box),))
    assert codes(reading) == ["boxes-outside-page"]


def test_a_box_rounded_outwards_passes() -> None:
    reading = replace(page_of("x"), blocks=(Block(BlockType.PARAGRAPH, "x", Box(-1, -2, 597, 843)),))
    assert codes(reading) == []


def test_notes_become_infos_once() -> None:
    found = check(page_of("x", notes=("layer-rejected", "downscaled")), replace(PAGE, notes=("downscaled",)))
    assert [(f.code, f.severity) for f in found] == [
        ("downscaled", Severity.INFO),
        ("layer-rejected", Severity.INFO),
    ]


def test_a_noted_script_is_named_where_the_layer_tells() -> None:
    page = replace(PAGE, layer_scripts={"kana": 600, "han": 250})
    found = only(page_of("か大五", notes=("script-unsupported",)), page)
    assert found.message == "The profile does not read kana letters."


def test_a_noted_script_is_a_warning_and_no_second_info() -> None:
    assert only(page_of("x", notes=("script-unsupported",))).severity is Severity.WARNING


def test_the_page_of_a_request_knows_its_layer_and_its_profile(tmp_path) -> None:
    image = PageImage(
        "0" * 64, ".jpg", 100, 200, Transform.scale(1, 1), 0.1, is_blank=False, notes=("downscaled",)
    )
    words = (Word("Привет", Box(0, 0, 9, 9)), Word("𝑥𝑦", Box(9, 0, 18, 9)))
    profile = get("ppocr")
    request = OcrRequest(image, tmp_path, 100, 200, profile.recipe(), words=words)
    page = PageUnderCheck.of(request, profile, ("box-repaired",))
    assert (page.pixels, page.notes, page.layer_words) == (20_000, ("box-repaired", "downscaled"), 2)
    assert page.layer_scripts == {"cyrillic": 6, "latin": 2}
    assert page.finds_lines


def test_the_page_of_a_served_model_knows_prompt_languages_and_limits(tmp_path) -> None:
    task = Task(prompt="Answer: {question}", parser="glm-json", about="fields")
    vlm = Vlm(
        served_name="m",
        weights="w",
        architecture="a",
        tasks={"fields": task},
        pixels=Pixels(patch_px=14, min_pixels=1, max_pixels=9),
    )
    profile = get("ppocr").model_copy(update={"vlm": vlm, "checks": CheckLimits(confidence=0.5)})
    image = PageImage("0" * 64, ".jpg", 100, 200, Transform.scale(1, 1), 0.1, is_blank=False)
    recipe = profile.recipe().model_copy(update={"task": "of another profile", "languages": "en de"})
    words = (Word("Hansen", Box(0, 0, 9, 9)),)
    request = OcrRequest(image, tmp_path, 100, 200, recipe, question="Who?", words=words)
    page = PageUnderCheck.of(request, profile)
    assert (page.prompt, page.languages, page.witness) == ("Answer: Who?", ("en", "de"), "Hansen")
    assert page.extracts
    assert page.limits.confidence == 0.5
