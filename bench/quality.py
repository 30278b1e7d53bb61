"""How well an OCR profile reads: error rates over files whose text is known, and whether errors are noticed.

    python -m bench.quality [FOLDER] [--profile ppocr] [--pages 3] [--jobs 2] [--recipe KEY=VALUE]
        [--write docs/quality.md]

FOLDER (default: samples) holds documents, here or in `documents/`, and what is printed on them as
NAME.gt.txt, here or in `truth/`, pages split by form feeds. Tables and formulas are measured where there is
NAME.gt.html or NAME.gt.md beside that, or in bench/truth. A `manifest.csv` with the columns file, kind,
language, password and ground_truth groups the figures; a ground_truth that says `partial:` is measured by the
words found. Pages are prepared and read as in a run with `text_layer=ignore`: no text layer helps.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from bench import arguments
from bench.qualityreport import report
from bench.scores import Score, score
from bench.truths import truths
from models.engine import OcrEngine
from models.profile import Profile
from models.profiles import get
from models.settings import get_settings
from tasks.work.engines import open_engine, servers_for


def scores(
    folder: Path, engine: OcrEngine, profile: Profile, most: int, options: Sequence[str] = ()
) -> Iterator[Score]:
    """Each document of `folder` whose print is known, at most `most` pages; `options`: the recipe's."""
    with tempfile.TemporaryDirectory() as home:
        for truth in truths(folder):
            found = score(truth, engine, profile, most, Path(home), options)
            print(f"{truth.path.name}: CER {found.mean(lambda page: page.cer):.2%}", file=sys.stderr)
            yield found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("samples"))
    parser.add_argument("--profile", default="ppocr")
    parser.add_argument("--pages", type=int, default=3, help="most pages of a document")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--recipe", nargs="*", default=[], help="options of the recipe, KEY=VALUE")
    parser.add_argument("--write", type=Path, help="file for the report; printed otherwise")
    return parser.parse_args()


def main() -> None:
    """Measure and print, or write."""
    options = _arguments()
    profile = get(options.profile)
    with closing(open_engine(profile, options.jobs, servers_for(profile, get_settings()))) as engine:
        facts = ", ".join(f"{name} {value}" for name, value in engine.facts().items())
        found = list(scores(options.folder, engine, profile, options.pages, options.recipe))
    # Folders elsewhere are named, not located.
    words = " ".join(Path(word).name if word.startswith((".", "/")) else word for word in sys.argv[1:])
    text = report(found, profile, facts, f"python -m bench.quality {words}".strip())
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    arguments.run(main)
