"""Faults of free-writing models, injected into good readings: what the checks have to find.

Each fault takes a good page and a source of chance and gives a page that is wrong in one way.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from html import escape
from random import Random

from bench.goodpages import Fault, Good, Wrong, as_table, read_as
from bench.loopfaults import LOOPS
from bench.sayings import FORMULAS, PROMPTS, REFUSALS, REMARKS, TOKENS
from models.geometry import Box
from models.reading import Block, BlockType, FinishReason, Reading, ReadingSource
from tasks.work.metrics import agreement


def _truncated(good: Good, rng: Random) -> Wrong:
    text = good.reading.text
    return good.with_text(
        text[: rng.randrange(len(text))], finish_reason=FinishReason.LENGTH, tokens_out=8192
    )


def _stopped(good: Good, rng: Random) -> Wrong:
    line = rng.choice(good.reading.text.splitlines())
    return good.with_text(f"{good.reading.text}\n{line * 3}", finish_reason=FinishReason.REPETITION)


def _empty(good: Good, rng: Random) -> Wrong:
    return good.with_text(rng.choice(["", " ", "\n\n", "```markdown\n```", "<|im_end|>"]))


def _invented(good: Good, rng: Random) -> Wrong:
    blank = dataclasses.replace(good.page, ink=rng.choice([0.0, 0.0005, 0.001]), is_blank=True)
    return read_as("text", rng.choice(good.others)[: rng.randint(20, 3_000)]), blank


def _chat(good: Good, rng: Random) -> Wrong:
    return good.with_text(rng.choice(REFUSALS))


def _chat_around(good: Good, rng: Random) -> Wrong:
    before, after = rng.choice(REMARKS)
    return good.with_text(f"{before}\n\n{good.reading.text}\n\n{after}".strip())


def _echo(good: Good, rng: Random) -> Wrong:
    prompt = rng.choice(PROMPTS)
    page = dataclasses.replace(good.page, prompt=prompt)
    is_long, text = len(prompt) > 100, good.reading.text
    said = prompt[: rng.randint(90, len(prompt))] if is_long else prompt
    return read_as("text", rng.choice([said, f"{said}\n{text}", *([f"{text}\n{said}"] * is_long)])), page


def _leaked_token(good: Good, rng: Random) -> Wrong:
    text, at = good.reading.text, rng.randrange(1, len(good.reading.text) - 1)
    return good.with_text(f"{text[:at]}{rng.choice(TOKENS)}{text[at:]}")


def _leaked_markup(good: Good, rng: Random) -> Wrong:
    lines = good.reading.text.splitlines()
    box = [rng.randrange(1000) for _ in range(4)]
    html = "".join(f'<div data-bbox="{box}" data-label="Text"><p>{line}</p></div>' for line in lines)
    layout = json.dumps(
        [{"bbox": box, "category": "Text", "text": line} for line in lines], ensure_ascii=False
    )
    cells = "".join(f"<tr><td>{line}</td></tr>" for line in [*lines, "a", "b"])
    grounded = "\n".join(f"{line}[[{', '.join(map(str, box))}]]" for line in lines)
    return good.with_text(rng.choice([html, layout, f"<table>{cells}</table>", grounded]))


def _stray_fence(good: Good, rng: Random) -> Wrong:
    lines = good.reading.text.splitlines()
    at = rng.randint(1, len(lines))
    return good.with_text("\n".join([*lines[:at], rng.choice(["```", "```markdown", "~~~"]), *lines[at:]]))


def _broken_json(good: Good, rng: Random) -> Wrong:
    fields = {f"field{n}": line[:60] for n, line in enumerate(good.reading.text.splitlines()[:20])}
    answer = json.dumps(fields, ensure_ascii=False)
    at = rng.randrange(2, len(answer) - 1)
    broken = rng.choice([answer[:at], answer[1:], "Fields: " + answer[1:at], good.reading.text])
    return read_as("glm-json", broken), good.page


def _nested(good: Good, rng: Random) -> Wrong:
    return read_as(
        "chandra", "<div><span>" * rng.randint(250, 5_000) + escape(good.reading.text[:99])
    ), good.page


def _ragged(good: Good, rng: Random) -> Wrong:
    rows = _table(good, rng)
    row = rows[rng.randrange(len(rows))]
    row.pop() if rng.random() < 0.5 else row.insert(rng.randrange(len(row)), "7")
    return as_table(rows), good.page


def _jump(good: Good, rng: Random) -> Wrong:
    rows = _table(good, rng)
    at = rng.randrange(len(rows))
    rows[at] += rows[at] + ["0", "0", "0"][: rng.randint(2, 3)]
    return as_table(rows), good.page


def _broken_formula(good: Good, rng: Random) -> Wrong:
    latex = rng.choice(FORMULAS)
    marks = [found.span() for found in re.finditer(r"[{}]|\\right.|\\left.|\\(?:begin|end)\{\w+\}", latex)]
    start, end = rng.choice(marks)
    return read_as("markdown", f"{good.reading.text[:500]}\n\n$${latex[:start]}{latex[end:]}$$\n"), good.page


def _outside(good: Good, rng: Random) -> Wrong:
    scale = rng.uniform(1.5, 4)
    boxes = (Box(60, 60 + 9 * n, 540 * scale, 69 + 9 * n) for n in range(len(good.reading.blocks)))
    blocks = tuple(dataclasses.replace(b, box=x) for b, x in zip(good.reading.blocks, boxes, strict=True))
    return dataclasses.replace(good.reading, blocks=blocks), good.page


def _gibberish(good: Good, rng: Random) -> Wrong:
    words = [word for text in rng.choices(good.others, k=6) for word in text.split()]
    chars = rng.randrange(20_000, 60_000)
    return good.with_text(f"{good.reading.text}\n{' '.join(rng.choices(words, k=chars // 5))}"[:chars])


def _signs(good: Good, rng: Random) -> Wrong:
    """What a model made of pages on their side."""
    kinds = rng.choices("$@#§%!?;:\"'`°¤£", k=rng.randint(2, 8))
    letters = rng.choices("abenrstu8", k=3)
    weights = [*[3] * len(kinds), *[1] * len(letters)]
    return good.with_text(" ".join(rng.choices([*kinds, *letters], weights, k=rng.randint(200, 2_000))))


def _other_page(good: Good, rng: Random) -> Wrong:
    text = rng.choice(good.others)
    return good.with_text(text, layer_agreement=agreement(text, good.reading.text))


def _unsure(good: Good, rng: Random) -> Wrong:
    return dataclasses.replace(good.reading, confidence=rng.uniform(0.3, 0.88)), good.page


def _wrong_fields(good: Good, rng: Random) -> Wrong:
    words = [word for word in good.reading.text.split() if len(word) > 5] or ["something"]
    fields = {
        "name": rng.choice(words),
        "place": rng.choice(words)[::-1] + "x",
        "total": f"{rng.random() * 1e7:.2f}",
    }
    page = dataclasses.replace(good.page, extracts=True, witness=good.reading.text)
    return read_as("glm-json", json.dumps(fields, ensure_ascii=False)), page


def _wrong_sum(good: Good, rng: Random) -> Wrong:
    amounts = [round(rng.uniform(1, 500), 2) for _ in range(rng.randint(3, 12))]
    total = sum(amounts) + rng.choice([-1, 1]) * rng.choice([0.9, 10, 90, amounts[0]])
    rows = [["Item", "Amount"], *([f"no. {n}", f"{a:.2f}"] for n, a in enumerate(amounts))]
    limits = good.page.limits.model_copy(update={"enabled": ("sums-differ",)})
    return as_table([*rows, ["Total", f"{total:.2f}"]]), dataclasses.replace(good.page, limits=limits)


def _lost_block(good: Good, rng: Random) -> Wrong:
    blocks = list(good.reading.blocks)
    blocks.pop(rng.randrange(len(blocks)))
    return dataclasses.replace(good.reading, blocks=tuple(blocks)), good.page


def _control(good: Good, rng: Random) -> Wrong:
    text, at = good.reading.text, rng.randrange(len(good.reading.text))
    dirty = text[:at] + rng.choice(["\x00", "\ud835", "\x0c", "\x1b", "\x85"]) + text[at:]
    return Reading(ReadingSource.OCR, dirty, (Block(BlockType.PARAGRAPH, dirty),)), good.page


def _huge(good: Good, rng: Random) -> Wrong:
    words = rng.choice(good.others).split()
    return good.with_text(" ".join(rng.choices(words, k=rng.randrange(40_000, 60_000))) + "wide" * 20_000)


def _huge_table(good: Good, rng: Random) -> Wrong:
    width = rng.randint(20, 100)
    rows = tuple(tuple(str(rng.randrange(999)) for _ in range(width)) for _ in range(10_000 // width))
    return as_table(list(map(list, rows))), good.page


def _table(good: Good, rng: Random) -> list[list[str]]:
    """A table of the page, or its words in rows."""
    tables = [block.rows for block in good.reading.blocks if block.type is BlockType.TABLE and block.rows]
    even = [rows for rows in tables if len({len(row) for row in rows}) == 1 and len(rows) > 2]
    if even:
        return [list(row) for row in rng.choice(even)]
    words = good.reading.text.split()[:200] + ["-"] * 12
    width = rng.randint(2, 5)
    return [words[n : n + width] for n in range(0, len(words) - width, width)]


FAULTS: Mapping[str, tuple[Fault, frozenset[str]]] = {
    name: (fault, frozenset({"loop"})) for name, fault in LOOPS.items()
} | {
    name: (fault, frozenset(codes.split()))
    for name, fault, codes in (
        ("truncated", _truncated, "truncated"),
        ("server stopped a repetition", _stopped, "repetition"),
        ("empty with ink", _empty, "empty-with-ink"),
        ("text on a blank page", _invented, "text-on-blank"),
        ("refusal or chat", _chat, "chat-text too-little-text"),
        ("remarks around the page", _chat_around, "chat-text preamble-stripped"),
        ("prompt echoed", _echo, "prompt-echo"),
        ("special token", _leaked_token, "leaked-token"),
        ("markup in the text", _leaked_markup, "leaked-markup"),
        ("stray fence", _stray_fence, "stray-fence fence-stripped"),
        ("broken JSON", _broken_json, "layout-invalid json-repaired"),
        ("HTML nested without end", _nested, "layout-invalid"),
        ("ragged table", _ragged, "table-ragged"),
        ("column count jumps", _jump, "column-jump"),
        ("formula out of balance", _broken_formula, "formula-unbalanced"),
        ("boxes outside the page", _outside, "boxes-outside-page"),
        ("gibberish without end", _gibberish, "too-much-text"),
        ("signs instead of letters", _signs, "mostly-signs"),
        ("another page's text", _other_page, "layer-disagreement"),
        ("low token confidence", _unsure, "low-confidence"),
        ("made-up field values", _wrong_fields, "field-not-on-page"),
        ("sum that does not add up", _wrong_sum, "sums-differ"),
        ("a block lost", _lost_block, "text-lost"),
        ("control characters", _control, "control-characters"),
        ("answer too long for a page", _huge, "answer-too-long"),
        ("table of 10,000 cells", _huge_table, "table-too-large"),
    )
}
