"""Formulas and what models write as formulas: one normal form for superscripts, delimiters and leftovers."""

import re

_UP = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True)) | {",": ","}
_DOWN = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
# Raised in print, written on the line everywhere else.
_ORDINAL = frozenset(
    {
        "st",
        "nd",
        "rd",
        "th",
        "e",
        "er",
        "ère",
        "re",
        "o",
        "os",
        "a",
        "as",
        "ª",
        "º",
        "°",
        "*",
        "**",
        "***",
        "†",
        "‡",
        "§",
        "®",
        "©",
        "™",
        "TM",
        "SM",
    }
)
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_ONLY_SCRIPT = re.compile(r"(?:\{\}|\\,|\s)*([\^_])\s*(?:\{([^{}\\]*)\}|([^{}\\\s]))\s*")
_DEGREE = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))")
_PLAIN = re.compile(r"[\d\s.,+%±°()/:–-]*")
_WRAPPER = re.compile(
    r"\\(?:textbf|textit|textrm|textsf|texttt|textsc|text|emph|underline|mbox)\s*\{([^{}]*)\}"
)
_RAISED = re.compile(r"\\text(superscript|subscript)\s*\{([^{}]*)\}")
_SECTION = re.compile(r"^[ \t]*\\((?:sub){0,2})section\*?\{([^{}\n]*)\}[ \t]*$", re.MULTILINE)
_FORMULA = re.compile(r"(\$[^$]+\$)")
_CITATION = re.compile(r"\[[\d\s,–-]+\]")
_NESTED = 4


def superscript(text: str) -> str:
    """Raised text in plain characters: ² for figures and signs, ordinals on the line, ^{…} for all else."""
    return _script(text, _UP, "^")


def subscript(text: str) -> str:
    """Lowered text in plain characters, as far as there are any; _{…} for all else."""
    return _script(text, _DOWN, "_")


def bare(latex: str) -> str:
    """LaTeX without the delimiters around it."""
    latex = latex.strip()
    for start, end in _DELIMITERS:
        is_wrapped = latex.startswith(start) and latex.endswith(end) and len(latex) >= len(start) + len(end)
        if is_wrapped and start not in (inner := latex[len(start) : -len(end)]):
            return inner.strip()
    return latex


def inline(latex: str) -> str:
    """A formula within text: $…$, but plain characters where the formula is a mark, a number or a degree."""
    latex = " ".join(bare(latex).split())
    if not latex:
        return ""
    raised = _ONLY_SCRIPT.fullmatch(latex)
    if raised:
        inner = raised[2] if raised[2] is not None else raised[3]
        return superscript(inner) if raised[1] == "^" else subscript(inner)
    plain = _DEGREE.sub("°", latex).replace("\\%", "%")
    return plain if _PLAIN.fullmatch(plain) else f"${latex}$"


def sections_as_headings(markdown: str) -> str:
    r"""Markdown whose lines of \section and its kin are headings with #."""
    if "section" not in markdown:
        return markdown
    return _SECTION.sub(lambda found: f"{'#' * (1 + len(found[1]) // 3)} {found[2]}", markdown)


def without_commands(text: str) -> str:
    r"""Running text without the LaTeX that models leave in it: \textbf{…} is its words. Formulas stay."""
    if "\\" not in text:
        return text
    parts = _FORMULA.split(text)
    parts[::2] = [_words(part) for part in parts[::2]]
    return "".join(parts)


def _words(text: str) -> str:
    text = _RAISED.sub(lambda found: _raised(found[1], found[2]), text)
    for _ in range(_NESTED):
        text, changed = _WRAPPER.subn(r"\1", text)
        if not changed:
            break
    return text


def _raised(kind: str, text: str) -> str:
    return superscript(text) if kind == "superscript" else subscript(text)


def _script(text: str, plain: dict[str, str], sign: str) -> str:
    text = text.strip()
    if text in _ORDINAL or not text or _CITATION.fullmatch(text):
        return text
    if all(char in plain for char in text):
        return "".join(plain[char] for char in text)
    return f"{sign}{{{text}}}"
