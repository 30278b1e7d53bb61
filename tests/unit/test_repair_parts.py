"""Each repair by itself takes away what is not the page, once, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.repair import mend_json, repair, unfenced, without_preamble, without_tokens

_WORDS = st.text("abc XY12.,\n", min_size=1, max_size=60).filter(str.strip)
_VALUES = st.recursive(
    st.one_of(st.integers(-99, 99), st.booleans(), st.none(), st.text("ab \n{[\"'", max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("ab", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<|im_start|>a<|im_end|>", "a"),
        ("[gMASK]<sop>a", "a"),
        ("a</answer>\n<eos>", "a"),
        ("<think></think>a", "a"),
        ("<s>a", "a"),
        ("a</s>", "a"),
        ("[INST]a[/INST]", "a"),
        ("a<|end|><|end|><|end|>", "a"),
        ("<|im_end|>", ""),
    ],
)
def test_tokens_at_both_ends_go(text: str, wanted: str) -> None:
    done = without_tokens(text)
    assert (done.text.strip(), done.notes) == (wanted, ("tokens-stripped",))


@pytest.mark.parametrize(
    "text", ["a<|x|>b", "<s>old</s> new", "a < b", "<p>a</p>", "[1] note", "<pad thai>", "[INSTALL]", "", " "]
)
def test_what_is_no_token_or_stands_inside_stays(text: str) -> None:
    assert without_tokens(text).text == text
    assert without_tokens(text).notes == ()


def test_tokens_without_end_are_taken_away_so_far_and_no_further() -> None:
    left = without_tokens("<eos>" * 500 + "a").text
    assert left.endswith("<eos>a")
    assert left.count("<eos>") == 400


@pytest.mark.parametrize(
    "line",
    [
        "Here is the transcribed text:",
        "Sure! Here's the OCR of the page:",
        "Certainly, here is the extracted content:",
        "Below is the Markdown of this page:",
        "The following is a transcription of the image:",
        "okay, this is the text from the scan:",
    ],
)
def test_a_line_to_the_user_goes_with_the_gap_after_it(line: str) -> None:
    done = without_preamble(f"{line}\n\nDear Ada,")
    assert (done.text, done.notes) == ("Dear Ada,", ("preamble-stripped",))


@pytest.mark.parametrize(
    "text",
    [
        "Here is the transcribed text:",
        "Here is the transcribed text:\n  \n",
        "Here is the news:\nRain.",
        "Dear Ada,\nHere is the transcribed text:\nx",
        "Here is the transcribed text\nx",
        "Sure as the sun: here we are.\nx",
    ],
)
def test_a_first_line_that_may_be_print_stays(text: str) -> None:
    assert without_preamble(text).text == text
    assert without_preamble(text).notes == ()


@given(_WORDS, st.sampled_from(["```", "````", "~~~"]), st.sampled_from(["", "md", "HTML", "json", "tex"]))
def test_a_fence_around_the_whole_leaves_just_what_was_in_it(page: str, fence: str, name: str) -> None:
    done = unfenced(f"{fence}{name}\n{page}\n{fence}")
    assert (done.text.strip(), done.notes) == (page.strip(), ("fence-stripped",))
    assert unfenced(done.text).notes == ()


@pytest.mark.parametrize(
    "text",
    ["```python\nx = 1\n```", "a\n```\nb\n```", "```md\na\n```\nb", "```inline```", "``` a b\nc\n```", "a"],
)
def test_fences_of_the_page_s_own_stay(text: str) -> None:
    assert unfenced(text).text == text


@given(_WORDS)
def test_a_mended_answer_needs_no_second_mending(page: str) -> None:
    once = repair(f"<|im_start|>```markdown\n{page}\n```<|im_end|>")
    assert once.notes == ("tokens-stripped", "fence-stripped")
    assert repair(once.text).text == once.text
    assert once.text.strip() == page.strip()


@given(_VALUES)
def test_sound_json_is_read_as_it_is(value: object) -> None:
    done = mend_json(json.dumps(value))
    if isinstance(value, dict | list):
        assert (done.value, done.notes) == (value, ())
    else:
        assert done.value is None or "json-repaired" in done.notes


@given(st.dictionaries(st.text("ab", min_size=1, max_size=3), st.integers(0, 99), min_size=1, max_size=4))
def test_json_that_lost_its_last_bracket_keeps_its_values(value: dict[str, int]) -> None:
    done = mend_json(json.dumps(value)[:-1])
    assert (done.value, done.notes) == (value, ("json-repaired",))


@pytest.mark.parametrize(("depth", "is_read"), [(100, True), (101, False)])
def test_json_is_read_a_hundred_levels_deep(depth: int, is_read: bool) -> None:
    done = mend_json("[" * depth + "]" * depth)
    assert (done.value is not None) is is_read
    assert ("unparsable" in done.notes) is not is_read


def test_words_around_json_are_no_part_of_it() -> None:
    done = mend_json('The fields are: {"a": 1}')
    assert (done.value, done.notes) == ({"a": 1}, ("json-repaired",))
