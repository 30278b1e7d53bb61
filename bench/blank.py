"""Are blank sheets called blank, and no page with text? Sheets made in code, and pages of a folder, worn.

    python -m bench.blank FOLDER [--pages 6] [--rounds 6] [--write docs/blank.md]

Blank sheets: white to black paper, with grain, specks, folds, punched holes, dark edges, shadows, the other
side's print showing through, and three of them at once. Pages with text: every page of the folder that has
some, as it is and worn by two of the same marks on greyer paper with paler ink.
"""

import argparse
import datetime as dt
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import arguments
from bench.orientation import pictures
from bench.sheets import blank_sheets, worn
from tasks.work.blank import measure


def report(blanks: Counter[str], missed: Counter[str], pages: int, lost: Sequence[str], command: str) -> str:
    """The figures as Markdown; `missed` of `blanks` were not called blank, `lost` of `pages` were."""
    right = 100 * (1 - missed.total() / max(1, blanks.total()))
    lines = [
        "# Blank or not",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}.",
        "",
        f"Blank sheets called blank: {right:.2f} % of {blanks.total()}.",
        f"Pages with text called blank: {len(lost)} of {pages}.",
        "",
        "| sheet | called blank |",
        "| --- | ---: |",
        *(f"| {name} | {count - missed[name]} of {count} |" for name, count in blanks.items()),
    ]
    lines += ["", "Pages with text called blank: " + ", ".join(lost)] if lost else []
    return "\n".join(lines) + "\n"


def main() -> int:
    """0 when no page with text is called blank and at least 99 % of blank sheets are."""
    parser = argparse.ArgumentParser(prog="python -m bench.blank", description=__doc__.split("\n")[0])
    parser.add_argument("paths", type=Path, nargs="*", default=[Path("samples/documents")])
    parser.add_argument("--pages", type=int, default=6, help="at most so many pages of a document")
    parser.add_argument("--rounds", type=int, default=6, help="sheets of a kind")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    arguments = parser.parse_args()
    rng, lost, pages, back = np.random.default_rng(7), list[str](), 0, None
    with tempfile.TemporaryDirectory() as folder:
        for case, picture, _ in pictures(arguments.paths, arguments.pages, Path(folder)):
            back = back or picture
            for sheet in (picture, worn(picture, rng)):
                pages += 1
                lost += [f"{case.path.name}:{case.page_no}"] if measure(sheet).is_blank else []
    blanks, missed = Counter[str](), Counter[str]()
    for name, sheet in blank_sheets(back, arguments.rounds) if back else ():
        blanks[name] += 1
        missed[name] += not measure(sheet).is_blank
    shown = " ".join(path.name for path in arguments.paths)
    options = f"--pages {arguments.pages} --rounds {arguments.rounds}"
    text = report(blanks, missed, pages, lost, f"python -m bench.blank {shown} {options}")
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    return int(bool(lost) or missed.total() > 0.01 * blanks.total())


if __name__ == "__main__":
    arguments.run(main)
