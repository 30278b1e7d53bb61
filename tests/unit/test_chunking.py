"""Pages of blocks become chunks: nothing lost, nothing doubled, cut only where it may be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.chunk import Chunk, ChunkBox
from models.geometry import Box
from models.reading import Block, BlockType
from tasks.work.chunking import chunks_of
from tasks.work.passages import ChunkLimits

SMALL = ChunkLimits(target=40, most=60)
SENTENCE = "A sentence of about fifty characters stands here. "


def paragraph(text: str, box: Box | None = None) -> Block:
    return Block(BlockType.PARAGRAPH, text, box)


def heading(text: str, level: int = 1) -> Block:
    return Block(BlockType.HEADING, text, level=level)


def table(*rows: Sequence[str]) -> Block:
    return Block(BlockType.TABLE, "\n".join("\t".join(row) for row in rows), rows=tuple(map(tuple, rows)))


def chunks(*pages: Sequence[Block], limits: ChunkLimits | None = None) -> list[Chunk]:
    return list(chunks_of(enumerate(pages, start=1), limits))


def words(texts: Iterator[str] | list[str]) -> Counter[str]:
    return Counter(" ".join(texts).split())


def test_no_pages_no_chunks() -> None:
    assert chunks() == []
    assert chunks([], [paragraph("  \n")]) == []


def test_short_paragraphs_share_a_chunk() -> None:
    (chunk,) = chunks([paragraph("One."), paragraph("Two.")])
    assert (chunk.text, chunk.kind, chunk.pages) == ("One.\n\nTwo.", "text", (1,))


def test_ordinals_count_from_nought_in_reading_order() -> None:
    made = chunks(
        [heading("A"), paragraph("a"), table(["x"]), paragraph("b")], [heading("B"), paragraph("c")]
    )
    assert [chunk.ordinal for chunk in made] == list(range(len(made)))
    assert [chunk.text for chunk in made] == ["A\n\na", "x", "b", "B\n\nc"]


def test_a_heading_begins_a_chunk_and_names_its_path() -> None:
    page = [heading("Book"), heading("Part", 2), paragraph("p"), heading("Next", 2), paragraph("n")]
    assert [(c.headings, c.text) for c in chunks(page)] == [
        (("Book", "Part"), "Book\n\nPart\n\np"),
        (("Book", "Next"), "Next\n\nn"),
    ]


def test_a_heading_without_text_does_not_join_the_next_of_its_level() -> None:
    made = chunks([heading("Empty"), heading("Next"), paragraph("n")])
    assert [(chunk.headings, chunk.text) for chunk in made] == [
        (("Empty",), "Empty"),
        (("Next",), "Next\n\nn"),
    ]


def test_a_heading_without_level_is_of_the_first_level() -> None:
    made = chunks([heading("Old", 2), paragraph("x"), heading("New", 0), paragraph("y")])
    assert [chunk.headings for chunk in made] == [("Old",), ("New",)]


def test_the_heading_path_goes_on_over_the_page_end() -> None:
    made = chunks([heading("Terms"), paragraph(SENTENCE * 20)], [paragraph(SENTENCE * 20)])
    assert {chunk.headings for chunk in made} == {("Terms",)}


def test_chunks_stay_near_the_target() -> None:
    made = chunks([paragraph(SENTENCE * 5) for _ in range(40)])
    assert all(500 <= len(chunk.text) <= 1_100 for chunk in made[:-1])


def test_a_paragraph_that_fits_is_never_cut() -> None:
    long = SENTENCE * 29
    assert long.strip() in [chunk.text for chunk in chunks([paragraph("Before. " * 60), paragraph(long)])]


def test_a_longer_paragraph_is_cut_at_sentence_ends() -> None:
    made = chunks([paragraph(SENTENCE * 100)])
    assert all(chunk.text.endswith("stands here.") and len(chunk.text) <= 1_500 for chunk in made)


def test_chinese_is_cut_at_its_own_sentence_ends() -> None:
    made = chunks([paragraph("这是一个没有空格的句子，它说明了一件事情。" * 200)])
    assert len(made) > 2
    assert all(chunk.text.endswith("。") and len(chunk.text) <= 1_500 for chunk in made)


def test_text_without_any_mark_is_cut_at_spaces_or_at_last_anywhere() -> None:
    spaced, solid = chunks([paragraph("word " * 400)]), chunks([paragraph("x" * 4_000)])
    assert words([chunk.text for chunk in spaced]) == {"word": 400}
    assert "".join(chunk.text for chunk in solid) == "x" * 4_000
    assert max(len(chunk.text) for chunk in spaced + solid) <= 1_500


def test_a_paragraph_over_a_page_end_stays_together() -> None:
    (chunk,) = chunks(
        [paragraph("It was the best of", Box(0, 700, 9, 9))], [paragraph("times.", Box(0, 0, 9, 9))]
    )
    assert (chunk.text, chunk.pages) == ("It was the best of times.", (1, 2))
    assert chunk.boxes == (ChunkBox(1, Box(0, 700, 9, 9)), ChunkBox(2, Box(0, 0, 9, 9)))


def test_chinese_over_a_page_end_is_joined_without_a_space() -> None:
    (chunk,) = chunks([paragraph("观自在菩")], [paragraph("萨行深般若。")])
    assert chunk.text == "观自在菩萨行深般若。"


def test_a_new_sentence_on_a_new_page_is_a_new_paragraph() -> None:
    (chunk,) = chunks([paragraph("The end")], [paragraph("Begin again.")])
    assert chunk.text == "The end\n\nBegin again."


def test_a_table_is_a_chunk_of_its_own() -> None:
    made = chunks([paragraph("Before."), table(["Item", "Price"], ["Tea", "3"]), paragraph("After.")])
    assert [(c.kind, c.text) for c in made] == [
        ("text", "Before."),
        ("table", "Item\tPrice\nTea\t3"),
        ("text", "After."),
    ]


def test_a_heading_right_above_a_table_stays_with_it() -> None:
    (chunk,) = chunks([heading("Prices"), table(["Tea", "3"])])
    assert (chunk.kind, chunk.headings, chunk.text) == ("table", ("Prices",), "Prices\n\nTea\t3")


def test_a_long_table_is_cut_between_rows_with_its_header_on_top() -> None:
    rows = [[f"item {n}", f"{n * 3}.50"] for n in range(300)]
    made = chunks([table(["Item", "Price"], *rows)])
    lines = [line for chunk in made for line in chunk.text.split("\n")]
    assert all(chunk.text.startswith("Item\tPrice\n") and len(chunk.text) <= 1_500 for chunk in made)
    assert [line for line in lines if line != "Item\tPrice"] == ["\t".join(row) for row in rows]


def test_a_table_of_one_endless_row_is_cut_too() -> None:
    made = chunks([table([f"cell{n}" for n in range(600)])])
    assert max(len(chunk.text) for chunk in made) <= 1_500
    assert words([chunk.text for chunk in made]) == Counter(f"cell{n}" for n in range(600))


def test_descriptions_of_pictures_stay_out() -> None:
    (chunk,) = chunks([Block(BlockType.PICTURE, "a signature"), paragraph("Yours truly")])
    assert "signature" not in chunk.text


def test_headers_and_footers_are_kept_apart_a_page_a_chunk() -> None:
    page = [Block(BlockType.HEADER, "Invoice 4711"), paragraph("Text"), Block(BlockType.FOOTER, "Page 1")]
    made = chunks(page, page)
    assert [(c.kind, c.pages) for c in made] == [("margin", (1,)), ("margin", (2,)), ("text", (1, 2))]
    assert (made[0].text, made[0].headings) == ("Invoice 4711\nPage 1", ())


def test_a_page_is_given_back_before_the_next_is_asked_for() -> None:
    pages = ((n, [heading(f"H{n}"), paragraph(SENTENCE)]) for n in range(1, 1_000_000_000))
    assert [chunk.pages for chunk in islice(chunks_of(pages), 3)] == [(1,), (2,), (3,)]


_WORDS = st.text("abc。. ,你好", min_size=1, max_size=50).map(str.strip).filter(bool)
_TEXT = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)
_TEXT_TYPES = st.sampled_from([kind for kind in BlockType if kind is not BlockType.TABLE])
_BLOCKS = st.builds(Block, _TEXT_TYPES, _TEXT, level=st.integers(0, 4))
_PAGES = st.lists(st.lists(_BLOCKS, max_size=8), max_size=6)


@pytest.mark.slow
@settings(max_examples=40)
@given(_PAGES, st.sampled_from([SMALL, ChunkLimits()]))
def test_every_character_stands_in_exactly_one_chunk(pages: list[list[Block]], limits: ChunkLimits) -> None:
    made = chunks(*pages, limits=limits)
    expected = "".join(b.text for page in pages for b in page if b.type is not BlockType.PICTURE)
    assert Counter("".join(c.text for c in made).replace("\n", "").replace(" ", "")) == Counter(
        expected.replace(" ", "")
    )


@pytest.mark.slow
@settings(max_examples=40)
@given(_PAGES)
def test_every_word_stands_whole_in_exactly_one_chunk(pages: list[list[Block]]) -> None:
    pages = [[b for b in page if b.type is not BlockType.PARAGRAPH] for page in pages]
    made = chunks(*pages)
    expected = words([b.text for page in pages for b in page if b.type is not BlockType.PICTURE])
    assert words([chunk.text for chunk in made]) == expected


@settings(max_examples=40)
@given(_PAGES)
def test_no_chunk_is_empty_or_too_long(pages: list[list[Block]]) -> None:
    assert all(0 < len(chunk.text.strip()) <= SMALL.most for chunk in chunks(*pages, limits=SMALL))
