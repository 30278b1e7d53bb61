"""The page of documentation on how well a profile reads."""

import datetime as dt
from collections.abc import Callable, Sequence
from statistics import mean, median

from bench.marking import WRONG, marking, missed
from bench.measures import interval, mean_of
from bench.scores import PageScore, Score, by
from bench.structure import MOST_NODES
from bench.truths import ERRATA
from models.profile import Profile

_FILE_HEAD = (
    "file",
    "language",
    "pages",
    "characters",
    "CER",
    "CER in any order",
    "WER",
    "order",
    "agreement",
)


def report(scores: Sequence[Score], profile: Profile, facts: str, command: str) -> str:
    """The page for docs/."""
    known = [each for each in scores if not each.truth.is_partial]
    wrong = [each for each in known if each.truth.path.name in ERRATA]
    right = [each for each in known if each not in wrong]
    read = [each for each in right if not each.is_foreign]
    partial = [
        (_name(each), f"{each.mean(lambda page: page.recall):.0%}")
        for each in scores
        if each.truth.is_partial
    ]
    parts = [
        _HEAD.format(
            date=dt.datetime.now(dt.UTC).date(), about=_about(scores, profile, facts), command=command
        ),
        "## By kind\n",
        _groups(read, "kind", lambda each: each.truth.kind),
        "## By language\n",
        _groups(read, "language", lambda each: each.truth.language),
        "## File by file\n",
        _files(read),
        _TABLES.format(nodes=MOST_NODES),
        _structures(right, "tables", ("printed", "found", "TEDS", "TEDS without words"), _table_row),
        _FORMULAS,
        _structures(right, "formulas", ("printed", "found", "the same", "signs the same"), _formula_row),
        _MARKS,
        _marks(right),
        _PARTIAL,
        _table(["file", "words found"], partial),
        _UNREADABLE,
        _files([each for each in right if each.is_foreign]),
        _WRONG,
        "".join(f"- {each.truth.path.name}: {ERRATA[each.truth.path.name]}\n" for each in wrong),
        _files(wrong),
    ]
    return "\n".join(parts)


def _about(scores: Sequence[Score], profile: Profile, facts: str) -> str:
    pages = sum(len(each.pages) for each in scores)
    scripts = ", ".join(sorted(profile.scripts)) or "any script"
    return f"{len(scores)} files, {pages} pages; {profile.title}; {facts}; reads {scripts}"


def _groups(scores: Sequence[Score], title: str, key: Callable[[Score], str]) -> str:
    rows = [_group_row(name, group) for name, group in by(scores, key).items()]
    header = [title, "files", "pages", "characters", "CER", "CER in any order", "median", "WER", "order"]
    return _table(header, [*rows, _group_row("**all**", scores)] if scores else [])


def _group_row(name: str, scores: Sequence[Score]) -> tuple[str, ...]:
    orders = [(each.order, 1.0) for each in scores if each.order is not None]
    return (
        name,
        str(len(scores)),
        str(sum(len(each.pages) for each in scores)),
        f"{sum(each.chars for each in scores):,}",
        _sure([(each.mean(_cer), each.chars) for each in scores]),
        _sure([(each.mean(_any_order), each.chars) for each in scores]),
        f"{median(each.mean(_any_order) for each in scores):.2%}",
        _sure([(each.wer, each.words) for each in scores]),
        f"{mean_of(orders):.2f}" if orders else "-",
    )


def _cer(page: PageScore) -> float:
    return page.cer


def _any_order(page: PageScore) -> float:
    return page.any_order


def _sure(parts: Sequence[tuple[float, float]]) -> str:
    """A mean with its interval, where there is one."""
    return f"{mean_of(parts):.2%}{_between(interval(parts))}"


def _between(bounds: tuple[float, float] | None) -> str:
    return f" ({bounds[0]:.1%}-{bounds[1]:.1%})" if bounds else ""


def _files(scores: Sequence[Score]) -> str:
    return _table(_FILE_HEAD, [_file_row(each) for each in scores])


def _file_row(each: Score) -> tuple[str, ...]:
    return (
        _name(each),
        each.truth.language,
        str(len(each.pages)),
        f"{each.chars:,}",
        f"{each.mean(_cer):.2%}",
        f"{each.mean(_any_order):.2%}",
        f"{each.wer:.2%}",
        "-" if each.order is None else f"{each.order:.2f}",
        f"{each.mean(lambda page: page.agreement):.3f}",
    )


def _structures(
    scores: Sequence[Score],
    what: str,
    header: Sequence[str],
    row: Callable[[str, Sequence[PageScore]], tuple[str, ...]],
) -> str:
    """A row for each file that has tables, or formulas, and one for all of them."""
    told = {_name(each): each.pages for each in scores if any(getattr(page, what) for page in each.pages)}
    rows = [row(name, pages) for name, pages in told.items()]
    every = [page for pages in told.values() for page in pages]
    return _table(["file", *header], [*rows, row("**all**", every)] if rows else [])


def _table_row(name: str, pages: Sequence[PageScore]) -> tuple[str, ...]:
    tables = [table for page in pages for table in page.tables]
    found = sum(table.structure > 0 for table in tables)
    teds, structure = mean(table.teds for table in tables), mean(table.structure for table in tables)
    return name, str(len(tables)), str(found), f"{teds:.3f}", f"{structure:.3f}"


def _formula_row(name: str, pages: Sequence[PageScore]) -> tuple[str, ...]:
    formulas = [formula for page in pages for formula in page.formulas]
    found, same = sum(each > 0 for each in formulas), sum(each == 1 for each in formulas)
    return name, str(len(formulas)), str(found), f"{same / len(formulas):.0%}", f"{mean(formulas):.3f}"


def _marks(scores: Sequence[Score]) -> str:
    pages = [page for each in scores for page in each.marked]
    found = [marking(pages, limit) for limit in WRONG]
    rows = [
        (f"{one.limit:.0%}", str(one.pages), str(one.wrong), str(one.marked), str(one.both),
         _share(one.precision, one.precision_between), _share(one.recall, one.recall_between))
        for one in found
    ]  # fmt: skip
    silent = (f"{page.document} p. {page.page_no} ({page.error:.0%})" for page in missed(pages, min(WRONG)))
    told = f"\nWrong and not marked: {', '.join(silent) or 'none'}.\n"
    return _table(["wrong from", "pages", "wrong", "marked", "both", "precision", "recall"], rows) + told


def _share(value: float | None, bounds: tuple[float, float] | None) -> str:
    return "-" if value is None else f"{value:.0%}{_between(bounds)}"


def _name(each: Score) -> str:
    return each.truth.path.name + (f" (failed: {', '.join(each.failures)})" if each.failures else "")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) if rows else "None.\n"


_HEAD = """# How well the default engine reads

Measured {date} ({about}) with

    {command}

Pages are prepared as in a run and read with `text_layer=ignore`; long documents are cut after a few pages.

- **CER**: edits per character of the ground truth; white left out, NFKC, words parted at line ends joined.
- **CER in any order** compares each line of the ground truth where it fits best, short lines (cells of
  tables) as words. Ground truths taken from text layers have columns and tables in the file's order and
  not in the reader's: this is the fair figure there. It does not see invented text.
- **WER**: edits per word, case and signs included; a character of Chinese or Japanese is a word.
- **order**: Kendall's tau of the lines that were found, 1 for the order of the ground truth, 0 for any. Means
  over documents. Low figures are ground truths in the file's order as often as pages read in a wrong one.
- **agreement**: F1 over letter triples and pairs of Chinese characters, whatever their order; 1 is best, and
  invented text counts.
- Means are weighted by characters (WER: words). In brackets the 95 % interval by drawing documents again,
  where there are three or more; *median*: of the files' CER in any order.
- A single file has chance in it: drawn in nine sizes within 6 % (`--recipe long_edge_px=1525` and the like),
  scan-en-huckfinn-jpeg.pdf had a CER in any order of 1.9 % to 2.8 %, scan-en-congress-jpeg.pdf of 2.7 % to
  3.7 %; whichever library drew them, the means were the same within 0.1 points.
"""

_TABLES = """## Tables

Tables whose cells were written down by hand. TEDS compares them as trees, 1 for equal ones and 0 for one that
was not found at all; without words, rows, cells and spans alone. Of large tables the first {nodes} rows and
cells count.
"""

_FORMULAS = """## Formulas

LaTeX as it was written down by hand against what was read as a formula, sign by sign, looks left out. Engines
that know no formulas find none: their letters are in the text, and in its error rate.
"""

_MARKS = """## Did the checks mark the pages that are wrong?

All pages of known text, scripts that the model cannot read among them. *Wrong*: the page's CER in any order
reaches the limit. *Marked*: `suspect` or `bad`, by the checks of the page and of its neighbours; with the
text layer ignored, no check could use it.
"""

_PARTIAL = """## Partly known texts

Only some of what is printed is known: the share of those words that was found.
"""

_UNREADABLE = """## Scripts that the model cannot read

Its answer is worthless there. In a run such pages are marked `script-unsupported` where a sane text layer
tells; elsewhere low confidence gives them away. With `text_layer=prefer` a sane layer is taken instead.
"""


_WRONG = """## Ground truths that are wrong

Left out of all means.
"""
