"""Text as search sees it: one function cuts what is stored and what is asked for.

Postgres' own parser makes one lexeme of a Chinese sentence, so nothing in it is ever found. Here words of
alphabetic scripts become lexemes of one tsvector; Chinese, Japanese and Korean become pairs of characters
(bigrams) of a second one, asked for as a phrase. Both count positions in the same tokens.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from models.text import CJK_SCRIPTS, script_of

# What a tsvector can hold: positions up to 16,383, at most 255 of a lexeme, 1 MB in all, 2 kB a lexeme.
MOST_POSITIONS = 16_383
_MOST_PLACES = 255
_MOST_BYTES = 900_000
_LONGEST_WORD = 200

# Scripts whose accents people leave out when they search. Elsewhere marks are vowels.
_ACCENTED = frozenset({"latin", "greek", "cyrillic"})
_EXTRA_HAN = "\u3007"
"""The zero of Chinese dates: a number to Unicode, a character to readers."""


_RUN = re.compile(r"[0-9A-Za-z\x80-\U0010ffff]+")
"""Whatever is no letter of ASCII ends a word, or is looked at by itself."""


class Token(NamedTuple):
    """A folded word, or one CJK character. `start` and `end` are offsets in the text it came from."""

    text: str
    start: int
    end: int
    is_cjk: bool


def tokens(text: str) -> Iterator[Token]:
    """The words and CJK characters of `text`, folded: case, accents and width make no difference."""
    for run in _RUN.finditer(text):
        if run.group().isascii():
            yield _word(text, run.start(), run.end())
        else:
            yield from _tokens(text, run.start(), run.end())


def _runs(text: str) -> Iterator[tuple[bool, list[str]]]:
    """The texts of `tokens`, those of one kind in a row together."""
    if text.isascii():
        yield False, [fold(word)[:_LONGEST_WORD] for word in _RUN.findall(text)]
        return
    for is_cjk, run in groupby(tokens(text), key=itemgetter(3)):
        yield is_cjk, [token[0] for token in run]


def _tokens(text: str, first: int, end: int) -> Iterator[Token]:
    """Of a part of `text`, character by character."""
    start: int | None = None
    for at in range(first, end):
        char = text[at]
        is_cjk = _is_cjk(char)
        if start is not None and (is_cjk or not _is_word_char(char)):
            yield _word(text, start, at)
            start = None
        if is_cjk:
            yield Token(unicodedata.normalize("NFKC", char), at, at + 1, is_cjk=True)
        elif start is None and char.isalnum():
            start = at
    if start is not None:
        yield _word(text, start, end)


def searchable(headings: Sequence[str], text: str) -> str:
    """What a passage is found by: the headings above it, too."""
    return "\n".join((*headings, text))


def to_tsvectors(text: str) -> tuple[str, str]:
    """Literals of the two tsvectors of `text`: words, CJK bigrams.

    The last character of a run of CJK stands alone, so that every character begins a lexeme. What goes
    beyond the limits of a tsvector is left out: text of that length has no place in one chunk.
    """
    words: dict[str, list[int]] = {}
    bigrams: dict[str, list[int]] = {}
    size = position = 0
    for is_cjk, texts in _runs(text):
        places = bigrams if is_cjk else words
        for piece in _bigrams(texts) if is_cjk else texts:
            position += 1
            size += len(piece if piece.isascii() else piece.encode()) + 8
            if position > MOST_POSITIONS or size > _MOST_BYTES:
                return _literal(words), _literal(bigrams)
            if piece in places:
                places[piece].append(position)
            else:
                places[piece] = [position]
    return _literal(words), _literal(bigrams)


@dataclass(frozen=True, slots=True)
class Term:
    """Tokens that must stand side by side: a word, a run of CJK, a quoted phrase, A-12."""

    tokens: tuple[tuple[str, bool], ...]
    """Folded text and whether it is CJK."""
    is_prefix: bool = False
    """Its last word may go on, as the asterisk of `pre*` says."""

    @property
    def is_mixed(self) -> bool:
        """Holds both kinds: the two vectors cannot tell whether its parts stand side by side."""
        return len({is_cjk for _, is_cjk in self.tokens}) == 2

    def tsqueries(self) -> tuple[str | None, str | None]:
        """What the words and the bigrams must match, as tsquery texts; None where it holds none of a kind."""
        parts: dict[bool, list[str]] = {False: [], True: []}
        for is_cjk, run in groupby(self.tokens, key=lambda token: token[1]):
            texts = [text for text, _ in run]
            parts[is_cjk].append(_cjk_phrase(texts) if is_cjk else " <-> ".join(map(_quoted, texts)))
        if self.is_prefix and parts[False]:
            parts[False][-1] += ":*"
        return _all_of(parts[False]), _all_of(parts[True])

    def spans(self, found: Sequence[Token]) -> list[tuple[int, int]]:
        """Where the term stands among the tokens of a text: offsets from and to, not overlapping."""
        length = len(self.tokens)
        spans: list[tuple[int, int]] = []
        for at in range(len(found) - length + 1):
            window = found[at : at + length]
            if self._matches(window) and not (spans and window[0].start < spans[-1][1]):
                spans.append((window[0].start, window[-1].end))
        return spans

    def _matches(self, window: Sequence[Token]) -> bool:
        last = len(self.tokens) - 1
        return all(
            token.text == text or (self.is_prefix and at == last and token.text.startswith(text))
            for at, (token, (text, _)) in enumerate(zip(window, self.tokens, strict=True))
        )


@dataclass(frozen=True, slots=True)
class Query:
    """A question in the form that most search engines take: all of the groups, none of the excluded."""

    groups: tuple[tuple[Term, ...], ...]
    """Of each group one term must be found: `a or b`."""
    excluded: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """Every term that is looked for."""
        return tuple(term for group in self.groups for term in group)


_PIECE = re.compile(r'(-?)"([^"]*)"?|(\S+)')


def parse(query: str) -> Query:
    """`word "a phrase" -without either or other begin*`, scripts mixed freely.

    A hyphen before a term excludes it; one inside (`A-12`) makes a phrase. Never raises.
    """
    groups: list[tuple[Term, ...]] = []
    excluded: list[Term] = []
    joins = False
    for minus, quoted, bare in _PIECE.findall(query):
        if bare.casefold() == "or" and groups:
            joins = True
            continue
        is_excluded = bool(minus) or (bare.startswith("-") and len(bare) > 1)
        term = _term(quoted or bare, is_prefix=bare.endswith("*"))
        if term is None:
            continue
        if is_excluded:
            excluded.append(term)
        elif joins:
            groups[-1] += (term,)
        else:
            groups.append((term,))
        joins = False
    return Query(tuple(groups), tuple(excluded))


def _term(text: str, *, is_prefix: bool) -> Term | None:
    found = tuple((token.text, token.is_cjk) for token in tokens(text))
    return Term(found, is_prefix=is_prefix and not found[-1][1]) if found else None


def _word(text: str, start: int, end: int) -> Token:
    return Token(fold(text[start:end])[:_LONGEST_WORD], start, end, is_cjk=False)


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """`word` in small letters, compatible forms as one (ﬁ, full width), without European accents."""
    folded: list[str] = []
    base = ""
    for char in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold()):
        if not unicodedata.combining(char):
            base = script_of(char)
        elif base in _ACCENTED:
            continue
        folded.append(char)
    return unicodedata.normalize("NFC", "".join(folded))


@lru_cache(maxsize=65_536)
def _is_cjk(char: str) -> bool:
    return char == _EXTRA_HAN or script_of(char) in CJK_SCRIPTS


@lru_cache(maxsize=65_536)
def _is_word_char(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}


def _bigrams(run: Sequence[str]) -> Iterator[str]:
    for at, char in enumerate(run):
        yield char + (run[at + 1] if at + 1 < len(run) else "")


def _cjk_phrase(run: Sequence[str]) -> str:
    if len(run) == 1:
        return f"{_quoted(run[0])}:*"
    pairs = [first + second for first, second in pairwise(run)]
    return " <-> ".join(map(_quoted, pairs))


def _all_of(parts: Sequence[str]) -> str | None:
    return " & ".join(f"({part})" for part in parts) if parts else None


def _literal(places: dict[str, list[int]]) -> str:
    return " ".join(
        [f"{_quoted(text)}:{','.join(map(str, at[:_MOST_PLACES]))}" for text, at in places.items()]
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
