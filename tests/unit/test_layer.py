"""Text layers as they are packed in a child, kept, and unpacked where they are looked at."""

import math
import pickle
from pathlib import Path

import pymupdf
import pytest

from models.document import MediaType
from models.geometry import Box
from models.layer import pack, unpack
from models.page import Word
from tasks.work.layers import split_packed
from tasks.work.split import split_pages


def pdf_of(folder: Path, *texts: str) -> Path:
    path = folder / "layer.pdf"
    with pymupdf.open() as document:
        for text in texts:
            document.new_page(width=300, height=200).insert_text((20, 60), text)
        document.save(path)
    return path


def test_a_layer_comes_back_word_by_word_with_types_of_its_own() -> None:
    words = (Word("Köhler", Box(1.25, 2.5, 30.75, 12.0), 3, 4), Word("安", Box(0, 0, 1, 1)))
    back = unpack(pack(words).data)
    assert back == words
    assert isinstance(back[0], Word)
    assert isinstance(back[0].box, Box)
    assert back[0].box.width == 29.5


def test_a_layer_knows_its_characters_without_being_unpacked() -> None:
    box = Box(0, 0, 1, 1)
    assert pack((Word("two", box), Word("words𝑥", box))).chars == 9
    assert pack(()).chars == 0
    assert unpack(pack(()).data) == ()


@pytest.mark.parametrize("edge", [math.inf, -math.inf, math.nan, 1e308])
def test_a_word_that_a_broken_matrix_put_at_infinity_is_kept(edge: float) -> None:
    words = (Word("here", Box(1, 2, 3, 4)), Word("there", Box(0, 0, edge, 1)))
    here, there = unpack(pack(words).data)
    assert (here, there.text) == (words[0], "there")
    assert all(map(math.isfinite, there.box))


def test_pages_from_a_child_are_those_of_split_with_their_words_packed(tmp_path: Path) -> None:
    path = pdf_of(tmp_path, "one small page", "", "another")
    found = split_packed(path, MediaType.PDF, 1, 3)
    pages = split_pages(path, MediaType.PDF, 1, 3)
    assert [page.page_no for page in found.pages] == [1, 2, 3]
    assert all(page.words == () for page in found.pages)
    layers = [[word.text for word in unpack(found.layers[number].data)] for number in (1, 2, 3)]
    assert layers == [[word.text for word in page.words] for page in pages]


def test_packed_pages_are_a_fraction_of_what_goes_through_a_pipe(tmp_path: Path) -> None:
    path = pdf_of(tmp_path, "\n".join("many words stand on this line" for _ in range(60)))
    packed, plain = split_packed(path, MediaType.PDF, 1, 1), split_pages(path, MediaType.PDF, 1, 1)
    assert len(plain[0].words) > 50
    assert 3 * len(pickle.dumps(packed)) < len(pickle.dumps(plain))
