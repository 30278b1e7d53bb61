"""Every threshold of a check lets pass what just reaches it and takes what lies beyond."""

from dataclasses import replace

import pytest

from models.geometry import Box
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import PageUnderCheck, Severity
from tests.unit.readings import FULL, GERMAN, PAGE, PROSE, codes, found, page_of, table_of

BLANK = replace(PAGE, ink=0.0, is_blank=True)
INKY = replace(PAGE, ink=0.2)
ASKED = replace(PAGE, prompt="Read all the text in this picture and give me nothing else but that text.")


def page(**changes: object) -> PageUnderCheck:
    return replace(PAGE, **changes)


@pytest.mark.parametrize(("agreement", "is_found"), [(None, False), (0.5, False), (0.4999, True), (0, True)])
def test_a_layer_that_agrees_by_half_passes(agreement: float | None, is_found: bool) -> None:
    assert ("layer-disagreement" in codes(page_of(PROSE, layer_agreement=agreement))) is is_found


@pytest.mark.parametrize(("confidence", "is_found"), [(None, False), (0.9, False), (0.8999, True), (0, True)])
def test_an_engine_that_is_sure_to_nine_tenths_passes(confidence: float | None, is_found: bool) -> None:
    assert ("low-confidence" in codes(page_of(PROSE, confidence=confidence))) is is_found


def test_nobody_can_be_unsure_of_nothing() -> None:
    assert "low-confidence" not in codes(page_of("", confidence=0.1), BLANK)


@pytest.mark.parametrize(
    ("box", "is_found"),
    [
        (Box(-3, -3, 598, 845), False),
        (Box(-3.1, 0, 10, 10), True),
        (Box(0, -3.1, 10, 10), True),
        (Box(0, 0, 598.1, 10), True),
        (Box(0, 0, 10, 845.1), True),
    ],
)
def test_boxes_may_stand_out_by_three_points_on_every_side(box: Box, is_found: bool) -> None:
    reading = replace(page_of(PROSE), blocks=(Block(BlockType.PARAGRAPH, PROSE, box),))
    assert ("boxes-outside-page" in codes(reading)) is is_found


def test_boxes_outside_are_counted_among_all_that_have_one() -> None:
    off, on = Box(0, 0, 900, 10), Box(0, 0, 10, 10)
    blocks = tuple(
        Block(BlockType.PARAGRAPH, word, box) for word, box in zip("abc", (off, on, None), strict=True)
    )
    finding = found(Reading(ReadingSource.OCR, "a b c", blocks), "boxes-outside-page")
    assert finding is not None
    assert finding.evidence == {"outside": 1, "boxes": 2}


@pytest.mark.parametrize(("chars", "is_found"), [(100_000, False), (100_001, True)])
def test_a_hundred_thousand_characters_are_a_page_and_one_more_is_none(chars: int, is_found: bool) -> None:
    reading = page_of("x" * chars)
    assert ("answer-too-long" in codes(reading, FULL)) is is_found
    assert "answer-too-long" not in codes(replace(reading, source=ReadingSource.TEXT_LAYER), FULL)


@pytest.mark.parametrize(("ink_px", "is_found"), [(200 * 12, False), (200 * 12 - 1, True)])
def test_a_character_takes_twelve_inked_pixels(ink_px: int, is_found: bool) -> None:
    text = ("word" * 50)[:200]
    assert (
        "too-much-text" in codes(page_of(text), page(ink=ink_px / 1_000_000, pixels=1_000_000))
    ) is is_found


def test_short_texts_are_not_weighed_against_little_ink() -> None:
    assert "too-much-text" not in codes(page_of("x" * 199), page(ink=1e-9))


@pytest.mark.parametrize(
    ("chars", "ink", "is_found"),
    [(80, 0.19, True), (81, 0.19, False), (80, 0.2, False), (1, 0.0029, False), (1, 0.0031, True)],
)
def test_few_characters_on_much_ink_are_too_little(chars: int, ink: float, is_found: bool) -> None:
    reading = page_of(("abcdefghij" * 9)[:chars])
    assert (
        "too-little-text" in codes(reading, page(ink=ink, pixels=10**6 if chars == 1 else 10**7))
    ) is is_found


@pytest.mark.parametrize(
    ("seen", "severity"),
    [
        (page(ink=0.01), Severity.ERROR),
        (page(ink=0.1999), Severity.ERROR),
        (INKY, Severity.WARNING),
        (replace(INKY, finds_lines=True), None),
        (BLANK, None),
    ],
)
def test_nothing_read_weighs_by_the_ink(seen: PageUnderCheck, severity: Severity | None) -> None:
    finding = found(page_of(""), "empty-with-ink", seen)
    assert (finding.severity if finding else None) == severity


@pytest.mark.parametrize(
    ("words", "agreement", "is_found"), [(3, 0.0, True), (2, 0.0, False), (3, None, False)]
)
def test_three_words_of_a_sane_layer_prove_text_even_to_a_line_finder(
    words: int, agreement: float | None, is_found: bool
) -> None:
    seen = page(finds_lines=True, layer_words=words)
    found_codes = codes(page_of("", layer_agreement=agreement), seen)
    assert ("empty-with-ink" in found_codes) is is_found
    assert ("no-text-found" in found_codes) is not is_found


@pytest.mark.parametrize(("letters", "is_found"), [(9, False), (10, True)])
def test_ten_foreign_letters_are_a_script_and_nine_are_a_name(letters: int, is_found: bool) -> None:
    text = "hello " * 10 + "щ" * letters
    assert ("script-unsupported" in codes(page_of(text), page(reads=frozenset({"latin"})))) is is_found


def test_foreign_letters_count_by_their_share_on_a_full_page() -> None:
    reads = page(reads=frozenset({"latin"}))
    assert "script-unsupported" not in codes(page_of("a" * 400 + "щ" * 21), reads)
    assert "script-unsupported" in codes(page_of("a" * 400 + "щ" * 22), reads)


def test_all_scripts_are_taken_from_a_profile_of_which_nothing_is_known() -> None:
    assert "script-unsupported" not in codes(page_of("щ" * 50), page(reads=frozenset()))


@pytest.mark.parametrize(
    ("widths", "ragged", "jump"),
    [
        ([4, 4, 4], False, False),
        ([4, 4, 5], True, False),
        ([6, 6, 8], True, False),
        ([6, 6, 9], True, True),
        ([6, 6, 4], True, False),
        ([6, 6, 3], True, True),
        ([8, 8, 11], True, False),
        ([60, 60, 60], False, False),
        ([61, 61, 61], False, True),
    ],
)
def test_a_jump_is_three_columns_and_half_as_many_again(widths: list[int], ragged: bool, jump: bool) -> None:
    table = table_of([[f"c{row}.{n}" for n in range(width)] for row, width in enumerate(widths)])
    assert ("table-ragged" in codes(table), "column-jump" in codes(table)) == (ragged, jump)


@pytest.mark.parametrize(("cells", "is_found"), [(3_000, False), (3_010, True)])
def test_three_thousand_cells_can_be_printed(cells: int, is_found: bool) -> None:
    rows = [[f"{row}.{n}" for n in range(10)] for row in range(cells // 10)]
    assert ("table-too-large" in codes(table_of(rows), FULL)) is is_found


@pytest.mark.parametrize(("tags", "is_found"), [(2, False), (3, True)])
def test_two_tags_are_print_and_three_have_leaked(tags: int, is_found: bool) -> None:
    assert ("leaked-markup" in codes(page_of(PROSE + " <b>" + "<td>" * tags), PAGE)) is is_found


@pytest.mark.parametrize(("fences", "is_found"), [(1, True), (2, False), (3, True), (4, False)])
def test_fences_come_in_pairs(fences: int, is_found: bool) -> None:
    text = PROSE + "\n".join(["", *(f"```\nline {n}" for n in range(fences)), "end"])
    assert ("stray-fence" in codes(page_of(text))) is is_found


def test_an_echo_is_an_error_where_it_is_half_of_the_answer() -> None:
    whole, part = (
        found(page_of(text), "prompt-echo", ASKED) for text in (ASKED.prompt, ASKED.prompt + PROSE)
    )
    assert whole is not None
    assert part is not None
    assert (whole.severity, part.severity) == (Severity.ERROR, Severity.WARNING)
    assert found(page_of(PROSE), "prompt-echo", ASKED) is None


@pytest.mark.slow
@pytest.mark.parametrize(("languages", "is_found"), [((), False), (("de",), False), (("en", "fr"), True)])
def test_only_languages_beside_the_expected_ones_are_doubted(
    languages: tuple[str, ...], is_found: bool
) -> None:
    seen = page(languages=languages)
    assert ("language-unexpected" in codes(page_of(GERMAN), seen)) is is_found
    assert "language-unexpected" not in codes(page_of(GERMAN, source=ReadingSource.TEXT_LAYER), seen)


@pytest.mark.parametrize(
    ("blocks", "evidence"),
    [
        (["one two"], None),
        (["two", "one"], None),
        (["one"], {"lost": 3, "added": 0}),
        (["one two", "six"], {"lost": 0, "added": 3}),
    ],
)
def test_lost_and_added_characters_are_counted(blocks: list[str], evidence: dict[str, int] | None) -> None:
    made = tuple(Block(BlockType.PARAGRAPH, text) for text in blocks)
    finding = found(Reading(ReadingSource.OCR, "one two", made), "text-lost")
    assert (finding.evidence if finding else None) == evidence
