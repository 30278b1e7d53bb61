"""Text that everything downstream can take: what is thrown away, and that no letter is."""

import json
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text import CJK_SCRIPTS, RIGHT_TO_LEFT, clean, printable, script_of, scripts

# Surrogates too: fonts and broken decoders produce them.
_any_text = st.text(st.characters())
_with_rubbish = st.text(
    st.sampled_from("aß安\u0301\x00\x07\x0b\x0c\r\n\t\x7f\x85\ud83d\ude00\udc80\ufffe\uffff\U0001f600")
)
_both = st.one_of(_any_text, _with_rubbish)


@given(_both)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(_both)
def test_clean_text_can_be_stored_as_utf8_and_sent_as_json(text: str) -> None:
    tidy = clean(text)
    assert tidy.encode("utf-8").decode("utf-8") == tidy
    assert json.loads(json.dumps(tidy, ensure_ascii=False)) == tidy


@given(_both)
def test_clean_text_has_no_control_character_but_tab_and_newline(text: str) -> None:
    assert not {c for c in clean(text) if unicodedata.category(c) in {"Cc", "Cs"}} - {"\t", "\n"}


@given(_both)
def test_no_letter_mark_or_number_is_lost(text: str) -> None:
    def kept(value: str) -> str:
        return "".join(c for c in value if unicodedata.category(c)[0] in "LMN")

    # Halves of pairs that stand together are joined, and may then be a letter that was none before.
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    assert kept(clean(text)) == kept(joined)


@given(_both, _both)
def test_text_is_only_ever_shortened(before: str, after: str) -> None:
    assert len(clean(before + after)) <= len(before) + len(after)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
def test_what_is_clean_already_comes_back_as_it_was(text: str) -> None:
    assert clean(text) == text


def test_all_that_can_be_printed_is_clean() -> None:
    printable_signs = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    # A line feed makes the whole unprintable, so that each sign is looked at.
    assert clean(printable_signs + "\n") == printable_signs + "\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\f", "\v"])
def test_every_end_of_a_line_or_page_is_one_newline(end: str) -> None:
    assert clean(f"one{end}two") == "one\ntwo"


def test_an_empty_line_between_windows_line_ends_stays() -> None:
    assert clean("one\r\n\r\ntwo") == "one\n\ntwo"


def test_halves_of_a_character_beyond_16_bits_are_joined() -> None:
    assert clean("\ud83d\ude00 \ud842\udfb7") == "😀 𠮷"


def test_halves_that_only_meet_once_rubbish_is_gone_are_not_joined() -> None:
    assert clean("a\ud83d\x00\ude00b") == "ab"


def test_joiners_and_soft_hyphens_stay_for_they_are_part_of_words() -> None:
    persian, hyphenated = "می\u200cروم", "Silben\u00adtrennung"
    assert (clean(persian), clean(hyphenated)) == (persian, hyphenated)


@given(_both)
def test_a_printable_name_is_printable_whatever_it_was(name: str) -> None:
    assert printable(name).isprintable()


@given(st.binary())
def test_names_of_any_bytes_are_printable(raw: bytes) -> None:
    shown = printable(raw.decode("utf-8", "surrogateescape"))
    assert shown.isprintable()
    assert shown.encode("utf-8").decode() == shown


@given(_both)
def test_a_printable_name_stays_as_it_is(name: str) -> None:
    assert printable(printable(name)) == printable(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bericht für 2024.pdf", "Bericht für 2024.pdf"),
        ("cut\udcc3.pdf", "cut\\xc3.pdf"),
        ("two\nlines\t.pdf", "two\\x0alines\\x09.pdf"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("half\ud800.pdf", "half\\xd800.pdf"),
        ("gpj.\u202egnp", "gpj.\\x202egnp"),
    ],
)
def test_undecodable_bytes_and_controls_become_visible_marks(name: str, shown: str) -> None:
    assert printable(name) == shown


@pytest.mark.parametrize(
    ("char", "script"),
    [
        *(("a", "latin"), ("ß", "latin"), ("Ａ", "latin")),
        *(("Ж", "cyrillic"), ("λ", "greek"), ("ش", "arabic"), ("א", "hebrew")),
        *(("安", "han"), ("々", "han"), ("あ", "kana"), ("ア", "kana"), ("ー", "kana"), ("ｱ", "kana")),
        *(("한", "hangul"), ("ก", "thai"), ("क", "devanagari"), ("ক", "bengali"), ("த", "tamil")),
        *(("ა", "other"), ("Հ", "other")),
        *(("7", "common"), (" ", "common"), ("。", "common"), ("\u0301", "common"), ("😀", "common")),
    ],
)
def test_letters_have_their_script_and_all_else_is_common(char: str, script: str) -> None:
    assert script_of(char) == script


@given(_any_text)
def test_every_letter_is_counted_once_and_nothing_else_is(text: str) -> None:
    assert scripts(text).total() == sum(char.isalpha() for char in text)


@given(_any_text, _any_text)
def test_scripts_of_a_whole_are_those_of_its_parts(one: str, other: str) -> None:
    assert scripts(one + other) == scripts(one) + scripts(other)


def test_a_mixed_line_names_each_script_with_its_letters() -> None:
    assert scripts("Tōkyō 東京 とうきょう, 2024") == Counter(latin=5, han=2, kana=5)


def test_groups_of_scripts_hold_only_names_that_letters_can_have() -> None:
    named = {script_of(char) for char in "a安あ한שش"}
    assert named >= CJK_SCRIPTS | RIGHT_TO_LEFT
    assert not CJK_SCRIPTS & RIGHT_TO_LEFT
