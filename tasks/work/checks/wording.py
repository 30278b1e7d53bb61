"""Checks on what the answer says that no page says: talk, prompts, tokens, tags and fences."""

import re
from collections.abc import Iterator

from models.verdict import Severity
from tasks.work.checks.case import Case, Evidence, Sighting
from tasks.work.checks.phrases import NEGATIONS, PICTURES, REFUSAL, REMARK, holds_clue
from tasks.work.repair import unfenced
from tasks.work.repair.answers import SENTENCE_TOKEN, SPECIAL_TOKEN

_LAYOUT = re.compile(
    r"<\s{0,3}/?\s{0,3}[A-Za-z][A-Za-z0-9-]{0,20}\s[^<>]{0,200}(?:data-bbox|data-label|bbox(?:_2d)?)\s?="
    r'|["\'](?:bbox|bbox_2d|data-bbox|block_label|block_content|layout_type|polygon)["\']\s{0,3}:'
    r'|\A\s{0,9}[\[{]{1,3}\s{0,20}"[^"\n]{1,60}"\s{0,3}:'
    r"|\[\[\s{0,3}\d{1,4}(?:\s{0,3},\s{0,3}\d{1,4}){3}\s{0,3}\]\]"
)
_HTML = re.compile(
    r"</?(?:div|table|t[rdh]|thead|tbody|span|p|br|img|h[1-6]|[uo]l|li|math|sup|sub|strong|em|center|figure"
    r"|caption|html|body)(?:\s[^<>]{0,200})?/?>|&(?:nbsp|amp|lt|gt|quot|#\d{1,5});",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]{0,3}```[^\n]{0,80}\n.{0,8000}?^[ \t]{0,3}```[ \t]*$", re.MULTILINE | re.DOTALL)
_PIECE = re.compile(r"[^\n.!?。]+")
# A prompt this short has to stand at the very start: its words are anybody's.
_SHORT_PROMPT = 60
_MOST_PIECES = 100


def chat_text(case: Case) -> Sighting | None:
    """The model talks to its user instead of reading, or before or after it."""
    if not case.is_written:
        return None
    text, most = case.words.strip(), case.limits.chat_chars
    ends = (text[:most], text[-most:] if len(text) > most else "")
    hinting = [end for end in ends if holds_clue(end)]
    if any(REFUSAL.search(end) for end in hinting):
        weight = None if len(text) <= case.limits.refusal_chars else Severity.WARNING
        return Sighting(
            "The model says that it cannot read instead of reading.", {"chars": len(text)}, weight
        )
    if any(REMARK.match(end) for end in ends) or any(REMARK.search(end) for end in hinting):
        return Sighting("The model speaks to its user.", {"chars": len(text)}, Severity.WARNING)
    return _about_the_picture(case, text)


def _about_the_picture(case: Case, text: str) -> Sighting | None:
    """A short answer that denies something about a picture, on a page whose ink says far more."""
    ink_px = case.page.ink * case.page.pixels
    is_short = 0 < len(text) <= case.limits.chat_chars
    if not is_short or ink_px < case.limits.silent_px_per_char * len(text):
        return None
    if not PICTURES.search(text) or not NEGATIONS.search(text):
        return None
    evidence: Evidence = {"chars": len(text), "ink_px": round(ink_px)}
    return Sighting("The answer speaks of the picture and says little of it.", evidence, Severity.WARNING)


def prompt_echo(case: Case) -> Sighting | None:
    """The answer repeats what the model was asked."""
    prompt, text = _folded(case.page.prompt), _folded(case.words)
    if not prompt or not case.is_written:
        return None
    if len(prompt) < _SHORT_PROMPT:
        echoes = [prompt] if text.startswith(prompt) else []
    else:
        echoes = [piece for piece in _pieces(prompt, case.limits.echo_chars) if piece in text]
    if not echoes:
        return None
    chars = sum(map(len, echoes))
    weight = Severity.ERROR if 2 * chars >= len(text) else None
    return Sighting("The answer repeats the prompt.", {"pieces": len(echoes), "chars": chars}, weight)


def leaked_token(case: Case) -> Sighting | None:
    """A special token of the model stands in the text."""
    if not case.is_written or ("<" not in case.words and "[" not in case.words):
        return None
    words = _unlisted(case.words)
    count = len(SPECIAL_TOKEN.findall(words)) + len(SENTENCE_TOKEN.findall(words))
    return Sighting("Special tokens of the model stand in the text.", {"tokens": count}) if count else None


def leaked_markup(case: Case) -> Sighting | None:
    """Tags, boxes or keys of the answer's own form stand in the text."""
    if not case.is_written:
        return None
    words = _unlisted(case.words)
    layout = len(_LAYOUT.findall(words)) if "[" in words or "<" in words or ":" in words else 0
    tags = len(_HTML.findall(words)) if "<" in words or "&" in words else 0
    if not layout and tags < case.limits.markup_tags:
        return None
    return Sighting("Markup of the answer stands in the text.", {"layout": layout, "tags": tags})


def stray_fence(case: Case) -> Sighting | None:
    """A code fence without its other half, or around the whole page; a listing keeps its own."""
    if not case.is_written or ("```" not in case.words and "~~~" not in case.words):
        return None
    fences = len(_FENCE.findall(case.words))
    if fences % 2 == 0 and not unfenced(case.words).notes:
        return None
    return Sighting("A code fence stands in the text that is none of the page's.", {"fences": fences})


def _unlisted(words: str) -> str:
    """The text without listings between fences."""
    return _FENCED.sub("", words) if "```" in words else words


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _pieces(prompt: str, least: int) -> Iterator[str]:
    found = (piece.strip() for piece in _PIECE.findall(prompt))
    yield from [piece for piece in found if len(piece) >= least][:_MOST_PIECES]
