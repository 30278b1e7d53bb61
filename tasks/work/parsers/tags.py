"""Markup of a model made fit for a parser: what is no tag stays text, depth has an end, faults are seen."""

import re
from collections import Counter
from dataclasses import dataclass, field

from tasks.work.parsers.inline import BLOCKS

# What a printed page can be made of, without what only a web page has: a tag that is not here is print.
_KNOWN = BLOCKS | {
    "a",
    "abbr",
    "b",
    "big",
    "br",
    "button",
    "chem",
    "cite",
    "code",
    "col",
    "colgroup",
    "del",
    "dfn",
    "em",
    "font",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "mark",
    "math",
    "option",
    "q",
    "s",
    "samp",
    "select",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "textarea",
    "tt",
    "u",
    "var",
}
_VOID = frozenset({"br", "col", "hr", "img", "input"})
# Left open on purpose by many writers of HTML: no sign of a broken answer.
_OPTIONAL = frozenset({"p", "li", "dd", "dt", "option", "colgroup", "html", "body"})
_CLOSED_BY = {
    "td": {"td", "th", "p"},
    "th": {"td", "th", "p"},
    "tr": {"td", "th", "tr", "p"},
    "li": {"li", "p"},
    "p": {"p"},
}
_ENDS_MATH = BLOCKS - {"p"}
# libxml2 gives up at 2,048 and drops the rest of the page; no printed page needs so much.
_DEEPEST = 200
_OPENING = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>]|\Z)")
_COMMENT = re.compile(r"<!--[^<>]*-->")


@dataclass(slots=True)
class Tidied:
    """Markup that a parser takes without losing text. `is_repaired`: tags were missing or did not match."""

    html: str
    is_repaired: bool


@dataclass(slots=True)
class _Tidier:
    html: str
    out: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    is_repaired: bool = False
    taken: int = 0
    """Characters of `html` that are in `out`."""
    gt: int = -1
    """Place of the first > after the tag in hand; looked for once for all tags before it."""
    last_gt: int = -1

    def run(self) -> Tidied:
        self.last_gt = self.html.rfind(">")
        for tag in _OPENING.finditer(self.html):
            name = tag[2].lower()
            in_math = bool(self.open) and self.open[-1] == "math"
            if name not in _KNOWN or (in_math and len(name) == 1) or not self._has_end(tag):
                continue
            self._text(tag.start())
            if in_math and name in _ENDS_MATH:
                self.out.append("</math>")
                self._close()
            is_kept = self._end(name) if tag[1] else self._start(name)
            self._tag(tag, is_kept=is_kept)
        self._text(len(self.html))
        self.is_repaired |= any(name not in _OPTIONAL for name in self.open)
        return Tidied("".join(self.out), self.is_repaired)

    def _text(self, end: int) -> None:
        """What stands between tags: a < in it is a sign, not markup."""
        self.out.append(self.html[self.taken : end].replace("<", "&lt;"))
        self.taken = max(self.taken, end)

    def _tag(self, tag: re.Match[str], *, is_kept: bool) -> None:
        """The tag itself; its attributes follow as text, which harms them no more than it helps."""
        if is_kept:
            self.out.append(tag[0].lower())
            self.taken = tag.end()
            return
        self.taken = self.gt + 1

    def _has_end(self, tag: re.Match[str]) -> bool:
        """Whether there is a > for it; without one it is no tag. Sets `gt`."""
        if self.gt < tag.end() <= self.last_gt:
            self.gt = self.html.find(">", tag.end())
        return tag.end() <= self.gt and tag.start() >= self.taken

    def _start(self, name: str) -> bool:
        if name in _VOID:
            return True
        while self.open and self.open[-1] in _CLOSED_BY.get(name, ()):
            self._close()
        self.open.append(name)
        self.count[name] += 1
        return len(self.open) <= _DEEPEST

    def _end(self, name: str) -> bool:
        """Whether an end tag is to be kept: those of dropped or unopened elements are not."""
        if name in _VOID or not self.count[name]:
            self.is_repaired |= name not in _VOID
            return False
        while self.open[-1] != name:
            self._close()
        self.open.pop()
        self.count[name] -= 1
        return len(self.open) < _DEEPEST

    def _close(self) -> None:
        name = self.open.pop()
        self.count[name] -= 1
        self.is_repaired |= name not in _OPTIONAL


def tidied(html: str) -> Tidied:
    """`html` with everything that is no known tag as text, and nested at most 200 deep. Linear time.

    Angle brackets of formulas (a<b), of prompts (<file>) and of a cut end stay on the page that way.
    """
    return _Tidier(_COMMENT.sub("", html)).run()
