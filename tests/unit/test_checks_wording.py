"""What a model says that no page says: talk, prompts, tokens, tags, fences; and pages that look like it."""

from dataclasses import replace

import pytest

from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import Severity
from tests.unit.readings import CHINESE, FULL, GERMAN, PAGE, PROSE, codes, found, page_of

LINES = replace(PAGE, finds_lines=True)
LISTING = "```python\nprint('<|im_end|>')\nprint('<div data-bbox=1>')\n```"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't read this image.",
        "As an AI language model, I cannot see pictures.",
        "The image appears to be completely blank.",
        "There is no text visible in this image.",
        "Please upload a clearer picture.",
        "抱歉，我无法识别图片中的文字。",
        "Es tut mir leid, ich kann den Text auf dem Bild nicht lesen.",
        "Je suis désolé, je ne peux pas lire cette image.",
        "Lo siento, no puedo leer la imagen.",
        "I have to decline: that would be against our usage policies.",
        "No picture was attached to your message.",
        "The letters are too small for me to decipher.",
        "Non è possibile leggere questa pagina.",
        "申し訳ありませんが、画像を読み取れません。",
        "Извините, на изображении нет текста.",
    ],
)
def test_a_refusal_instead_of_the_page_is_an_error(text: str) -> None:
    finding = found(page_of(text), "chat-text")
    assert finding is not None
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "The scan is of poor quality, nothing to read there.",
        "I only see an empty page here.",
        "図の画像に何もない",
    ],
)
def test_a_short_answer_about_the_picture_is_doubtful_on_a_page_of_print(text: str) -> None:
    assert found(page_of(text), "chat-text", FULL)
    assert not found(page_of(text), "chat-text", replace(PAGE, ink=0.0005))


def test_a_remark_before_or_after_the_page_is_a_warning() -> None:
    for text in (
        f"Sure, here you go:\n{PROSE}",
        f"{PROSE}\nWould you like me to translate it?",
        f"好的，{CHINESE}",
    ):
        finding = found(page_of(text), "chat-text")
        assert finding is not None
        assert finding.severity is Severity.WARNING


def test_a_refusal_within_a_long_text_is_a_warning() -> None:
    finding = found(page_of("I'm sorry, I cannot read all of this image.\n" + PROSE * 4), "chat-text")
    assert finding is not None
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        GERMAN,
        CHINESE,
        "NO PHOTOGRAPHS",
        "This page intentionally left blank",
        "Dear Sir,\nwe regret the delay. Please let me know if you have any questions.\nYours, M. Hart",
        "He said he was sorry and would come on Monday. " * 5,
        "Figure 3 shows the growth of the firm. The image was taken in 1901 by E. Lund.",
    ],
)
def test_pages_that_sound_a_little_like_a_model_pass(text: str) -> None:
    assert found(page_of(text), "chat-text", replace(PAGE, ink=0.004)) is None


def test_a_line_reader_does_not_chat() -> None:
    assert found(page_of("I'm sorry, but I can't read this image."), "chat-text", LINES) is None


def test_a_short_prompt_at_the_start_is_an_echo() -> None:
    page = replace(PAGE, prompt="Text Recognition:")
    alone, before = found(page_of("Text Recognition:"), "prompt-echo", page), f"text recognition: {PROSE}"
    assert alone is not None
    assert alone.severity is Severity.ERROR
    assert found(page_of(before), "prompt-echo", page)
    assert not found(page_of(f"{PROSE} Text Recognition:"), "prompt-echo", page)


def test_a_sentence_of_a_long_prompt_is_an_echo_wherever_it_stands() -> None:
    prompt = "Convert the page to Markdown exactly as printed. Do not add any explanations of your own."
    page = replace(PAGE, prompt=prompt)
    assert found(page_of(f"{PROSE}\nDo not add any explanations of your own."), "prompt-echo", page)
    assert not found(page_of(PROSE), "prompt-echo", page)
    assert not found(page_of("Do not add salt."), "prompt-echo", page)


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<｜end▁of▁sentence｜>", "</s>", "<unk>", "[INST]", "<loc_12>", "<0x0A>"]
)
def test_a_special_token_in_the_text_is_found(token: str) -> None:
    assert found(page_of(f"{PROSE}{token}{PROSE}"), "leaked-token")


@pytest.mark.parametrize(
    "text", ["a < b and b > c", "<Enter> or <Esc>", "see [1] and [2, 3]", "x <= y", PROSE]
)
def test_angle_brackets_of_print_are_no_tokens(text: str) -> None:
    assert found(page_of(text), "leaked-token") is None
    assert found(page_of(text), "leaked-markup") is None


@pytest.mark.parametrize(
    "text",
    [
        '<div data-bbox="1 2 3 4" data-label="Text">Words</div>',
        '[{"bbox": [1, 2, 3, 4], "category": "Text", "text": "Words"}]',
        "<table><tr><td>a</td></tr></table>",
        "Words[[12, 34, 567, 890]]",
        '{"title": "Words", "lines": ["more"]}',
        "a&nbsp;b&amp;c&lt;d",
    ],
)
def test_markup_of_the_answer_is_found(text: str) -> None:
    assert found(page_of(text), "leaked-markup")


@pytest.mark.parametrize(
    "text", ["The <b> tag", "A matrix [[1, 2], [3, 4]]", "if a<b: x>c", "Tom & Jerry", "x: [1, 2]"]
)
def test_a_page_that_mentions_a_tag_passes(text: str) -> None:
    assert codes(page_of(text)) == []


def test_a_listing_may_hold_what_a_page_may_not() -> None:
    assert codes(page_of(f"{PROSE}\n{LISTING}\n{PROSE}")) == []
    code = Block(BlockType.CODE, "<div data-bbox='1'>\n```\n<|im_end|>")
    text = f"{PROSE}\n{code.text}"
    assert codes(Reading(ReadingSource.OCR, text, (Block(BlockType.PARAGRAPH, PROSE), code))) == []


@pytest.mark.parametrize(
    "text", [f"{PROSE}```", f"```\n{PROSE}", f"```markdown\n{PROSE}\n```", f"{PROSE}\n~~~\n{PROSE}"]
)
def test_a_fence_that_is_none_of_the_pages_is_found(text: str) -> None:
    fence = text if "\n" in text[-5:] else text.replace(".\n```", ".\n\n```")
    assert found(page_of(fence), "stray-fence")


def test_fences_of_listings_pass() -> None:
    assert found(page_of(f"{PROSE}\n{LISTING}\n{PROSE}\n{LISTING}"), "stray-fence") is None
