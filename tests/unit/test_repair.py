"""Repairs of answers: what stands around a page goes, what stands on it stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.work.repair import mend_json, repair, unfenced, without_preamble, without_tokens

PAGE = "# Annual report\n\nSales rose by 4 %.\n\n| a | b |\n| - | - |\n| 1 | 2 |"
LISTING = "```python\nprint(1)\n```"


@pytest.mark.parametrize("language", ["", "markdown", "md", "html", "text"])
def test_a_fence_around_the_page_goes(language: str) -> None:
    done = unfenced(f"```{language}\n{PAGE}\n```\n")
    assert (done.text, done.notes) == (PAGE, ("fence-stripped",))


def test_a_fence_that_was_never_closed_goes() -> None:
    assert unfenced(f"```markdown\n{PAGE}").text == PAGE


@pytest.mark.parametrize(
    "text",
    [
        LISTING,
        f"{PAGE}\n{LISTING}",
        f"{LISTING}\n{PAGE}\n{LISTING}",
        f"```\na\n```\n{PAGE}\n```\nb\n```",
        PAGE,
    ],
    ids=["only-a-listing", "listing-at-the-end", "two-listings", "plain-listings", "no-fence"],
)
def test_a_listing_keeps_its_own_fence(text: str) -> None:
    assert repair(text).text == text
    assert repair(text).notes == ()


def test_a_page_with_a_listing_loses_only_the_outer_fence() -> None:
    inner = f"{PAGE}\n{LISTING}\nThe end."
    assert unfenced(f"```markdown\n{inner}\n```").text == inner


@pytest.mark.parametrize(
    "token",
    ["<|im_end|>", "<|endoftext|>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<end_of_turn>", "[/INST]"],
)
def test_special_tokens_at_the_end_go(token: str) -> None:
    assert without_tokens(f"{PAGE}{token}\n").text == PAGE
    assert repair(f"{PAGE}{token}{token}").notes == ("tokens-stripped",)


def test_special_tokens_at_the_start_go() -> None:
    assert without_tokens(f"<|begin_of_text|><|assistant|>{PAGE}").text == PAGE


def test_struck_out_text_is_no_token() -> None:
    text = "<s>old price</s>"
    assert without_tokens(text).text == text


def test_special_tokens_in_the_middle_stay_for_the_check() -> None:
    text = f"{PAGE} <|im_end|> {PAGE}"
    assert repair(text).text == text


@pytest.mark.parametrize(
    "line",
    [
        "Here is the transcription of the page:",
        "Sure! Here's the extracted text:",
        "Certainly. Below is the text from the image in Markdown format:",
        "Okay, here is the OCR result:",
    ],
)
def test_a_first_line_to_the_user_goes(line: str) -> None:
    done = without_preamble(f"{line}\n\n{PAGE}")
    assert (done.text, done.notes) == (PAGE, ("preamble-stripped",))


@pytest.mark.parametrize(
    "text", ["Here is the news:\nRain.", "This is the text of the law:", "Sure, here is my answer.\nYes."]
)
def test_first_lines_of_real_pages_stay(text: str) -> None:
    assert without_preamble(text).text == text


def test_control_characters_go_and_are_noted() -> None:
    done = repair("a\x00b\x1b")
    assert (done.text, done.notes) == ("ab", ("text-cleaned",))


def test_all_wrappings_at_once() -> None:
    done = repair(f"Here is the transcription:\n```markdown\n{PAGE}\n```<|im_end|>")
    assert done.text == PAGE
    assert set(done.notes) == {"preamble-stripped", "fence-stripped", "tokens-stripped"}


@pytest.mark.parametrize(
    ("text", "value", "notes"),
    [
        ('{"a": 1}', {"a": 1}, ()),
        ('```json\n{"a": 1}\n```', {"a": 1}, ("fence-stripped",)),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, ()),
        ('[{"text": "a"} {"text": "b"}]', [{"text": "a"}, {"text": "b"}], ("json-repaired",)),
        (
            '[{"bbox": [1, 2, 3, 4], "text": "cut he',
            [{"bbox": [1, 2, 3, 4], "text": "cut he"}],
            ("json-repaired",),
        ),
        ('The fields are: {"a": 1,}', {"a": 1}, ("json-repaired",)),
        ("no json at all", None, ("unparsable",)),
        ("", None, ("unparsable",)),
        ("[" * 500, None, ("unparsable",)),
        ('{"a": "' + "x" * 70_000, None, ("unparsable",)),
    ],
    ids=["good", "fenced", "newline", "no-comma", "cut", "prose", "none", "empty", "deep", "long-and-broken"],
)
def test_json_is_read_mended_or_refused(text: str, value: object, notes: tuple[str, ...]) -> None:
    mended = mend_json(text)
    assert (mended.value, mended.notes) == (value, notes)


@settings(max_examples=60)
@given(st.text(alphabet='`~<|>/s_im end\n{}[]",:a1'))
def test_repair_only_takes_away_and_says_so(text: str) -> None:
    once = repair(text)
    assert once.text in text
    assert bool(once.notes) == (once.text != text)


@settings(max_examples=60)
@given(st.text(alphabet='{}[]",:\\a1 \n'))
def test_json_of_any_kind_ends_as_a_value_or_unparsable(text: str) -> None:
    mended = mend_json(text)
    assert (mended.value is None) == ("unparsable" in mended.notes)
