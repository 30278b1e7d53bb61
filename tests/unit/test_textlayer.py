import io
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from models.engine import OcrRequest
from models.geometry import Box
from models.page import Word
from tasks.work import textlayer
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.layerink import grey_of, invisible_share, outside_share
from tasks.work.lines import Line
from tests.unit import pages
from tests.unit.boxes import column

PAPER = Image.new("RGB", (400, 300), "white")


def _fault(page: OcrRequest) -> str | None:
    layer = textlayer.look(page, pages.picture_of(page), pages.READABLE)
    assert layer is not None
    return layer.fault


def _proof(page: OcrRequest) -> textlayer.Proof:
    picture = pages.picture_of(page)
    layer = textlayer.look(page, picture, pages.READABLE)
    assert layer is not None
    return textlayer.prove(layer, picture, pages.READABLE, FasterPaddle().lines)


def _reading(*texts: str) -> Callable[[bytes], list[Line]]:
    """An engine that reads these lines whatever it is shown."""
    return lambda _: column(texts, 0, 0)


def test_the_layer_of_a_born_digital_page_has_no_fault(tmp_path: Path) -> None:
    assert _fault(pages.made(pages.born_digital(), tmp_path)) is None


def test_a_page_without_words_has_no_layer(tmp_path: Path) -> None:
    page = replace(pages.made(pages.born_digital(), tmp_path), words=(Word(" ", Box(0, 0, 9, 9)),))
    assert textlayer.look(page, pages.picture_of(page), pages.READABLE) is None


def test_text_that_nobody_can_see_is_a_fault(tmp_path: Path) -> None:
    assert _fault(pages.made(pages.born_digital(render_mode=3), tmp_path)) == "invisible"


def test_a_scan_with_a_page_number_as_its_only_text_is_incomplete(tmp_path: Path) -> None:
    page = pages.made(pages.scan_with_layer("\n".join(pages.LINES), ""), tmp_path)
    number = Word("7", Box(16, 12, 60, 40))
    assert _fault(replace(page, words=(number,))) == "incomplete"


def test_words_off_the_page_are_a_fault_when_they_are_most(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(), tmp_path)
    away = tuple(word._replace(box=Box(900, 10, 950, 20)) for word in page.words)
    assert _fault(replace(page, words=(*away, *page.words[:5]))) == "outside-page"
    assert _fault(replace(page, words=(*away[:5], *page.words))) is None


@pytest.mark.slow
def test_lines_that_say_what_is_printed_prove_the_layer(tmp_path: Path) -> None:
    assert _proof(pages.made(pages.born_digital(), tmp_path)) == textlayer.Proof(None, is_read=True)


@pytest.mark.slow
def test_shifted_letters_are_found_by_reading_a_few_lines(tmp_path: Path) -> None:
    letters = string.ascii_lowercase
    shifted = str.maketrans(letters, letters[3:] + letters[:3])
    page = pages.with_texts(pages.made(pages.born_digital(), tmp_path), shifted)
    assert _fault(page) is None
    assert _proof(page).fault == "differs"


@pytest.mark.slow
def test_hidden_text_over_a_picture_of_other_words_differs(tmp_path: Path) -> None:
    other = "\n".join(reversed(["Wholly other sentences stand here in the hidden layer of it"] * 5))
    assert (
        _proof(pages.made(pages.scan_with_layer("\n".join(pages.LINES), other), tmp_path)).fault == "differs"
    )


@pytest.mark.slow
def test_hidden_text_over_a_picture_of_the_same_words_is_proven(tmp_path: Path) -> None:
    same = "\n".join(pages.LINES)
    assert _proof(pages.made(pages.scan_with_layer(same, same), tmp_path)).fault is None


def test_a_layer_in_a_script_that_the_engine_cannot_read_stays_unproven(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(), tmp_path)
    russian = {ord(char): 0x430 + ord(char.lower()) - ord("a") for char in string.ascii_letters}
    foreign = pages.with_texts(page, russian)
    assert _proof(foreign) == textlayer.Proof(None, is_read=False)


def test_a_layer_that_is_not_believed_or_not_readable_is_not_read() -> None:
    lines = tuple(column(["A line that says enough"] * 3, 20, 20))
    for layer in (textlayer.Layer(lines, "mojibake", False), textlayer.Layer(lines, None, True)):
        proof = textlayer.prove(layer, PAPER, pages.READABLE, _reading("A line that says enough"))
        assert proof == textlayer.Proof(layer.fault, is_read=False)


def test_four_telling_lines_from_top_to_bottom_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textlayer, "_SAME_LINE", 1.0)
    texts = [f"{name} is the line of {number}" for number, name in enumerate(["one", "two", "three", "four"])]
    useless = ["7", "long " * 30, "большая часть in Russian", "a b c"]
    lines = column([text for pair in zip(texts, useless, strict=True) for text in pair], 20, 20, width=300)
    upright = Line("written up the margin", Box(2, 10, 12, 200))
    layer = textlayer.Layer((upright, *reversed(lines)), None, False)
    assert textlayer.prove(layer, PAPER, pages.READABLE, _reading(*texts)) == textlayer.Proof(
        None, is_read=True
    )
    assert textlayer.prove(layer, PAPER, pages.READABLE, _reading(*texts[:3])).fault == "differs"


def test_where_no_line_says_much_the_longest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textlayer, "_SAME_LINE", 1.0)
    layer = textlayer.Layer(tuple(column(["a", "seven", "six", "ab", "nine", "four"], 20, 20)), None, False)
    assert (
        textlayer.prove(layer, PAPER, pages.READABLE, _reading("seven", "six", "nine", "four")).fault is None
    )


def test_lines_are_cut_out_whole_and_set_apart() -> None:
    picture = PAPER.copy()
    lines = column(["The first line", "The second one"], 20, 20, width=100)
    for each in lines:
        picture.paste("black", (20, int(each.box.y0), 120, int(each.box.y1)))
    sheets: list[Image.Image] = []

    def read(data: bytes) -> list[Line]:
        sheets.append(Image.open(io.BytesIO(data)).convert("L"))
        return lines

    textlayer.prove(textlayer.Layer(tuple(lines), None, False), picture, pages.READABLE, read)
    inked = np.asarray(sheets[0]) < 128
    borders = np.flatnonzero(np.diff(inked.any(axis=1).astype(int), prepend=0, append=0))
    assert inked.sum() == 2 * 20 * 100
    assert np.diff([0, *borders, len(inked)]).tolist() == [17, 20, 20, 20, 17]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "page_no", "fault"),
    [
        ("digital-ru-broken-textlayer.pdf", 3, "mojibake"),
        ("digital-mr-latex-intro.pdf", 3, "unmapped"),
        ("digital-zh-math-exam.pdf", 1, "unmapped"),
        ("digital-en-invisible-text.pdf", 1, "invisible"),
        ("scan-mixed-6p.pdf", 4, "incomplete"),
        ("digital-ru-install-guide.pdf", 3, None),
        ("digital-zh-install-guide.pdf", 4, None),
        ("digital-en-nics-table.pdf", 1, None),
        ("scan-en-linn-hidden-text.pdf", 1, None),
    ],
)
def test_layers_of_real_files(name: str, page_no: int, fault: str | None, tmp_path: Path) -> None:
    assert _fault(pages.request(pages.corpus(name), tmp_path, page_no=page_no)) == fault


def test_words_on_paper_without_ink_are_invisible() -> None:
    picture = Image.new("L", (200, 100), 240)
    picture.paste(20, (20, 20, 60, 40))
    words = [("seen", Box(18, 18, 62, 42)), ("unseen", Box(100, 18, 160, 42))]
    assert invisible_share(words, grey_of(picture)) == pytest.approx(0.6)


def test_ink_beside_all_words_is_counted_by_its_edges() -> None:
    picture = Image.new("L", (200, 100), 255)
    for x in range(100, 190, 4):
        picture.paste(0, (x, 10, x + 2, 90))
    grey = grey_of(picture)
    assert outside_share([("word", Box(10, 10, 60, 30))], grey) == 1.0
    assert outside_share([("word", Box(95, 5, 195, 95))], grey) == 0.0
