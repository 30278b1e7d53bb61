"""Image tokens of a page sized by its print, against the most that its model takes. No server is needed.

    python -m bench.sizes FILE_OR_FOLDER… [--profiles glm-ocr chandra-2] [--pages 4] [--out FOLDER]

The first pages of every readable document are prepared as each profile says (resolution legible). A token is
a cell of the model's grid; pages that are blank are left out, since they are not sent.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from bench import arguments, facts
from bench.pages import KINDS, Case, cases
from bench.result import Journal, Row, machine
from models import profiles
from models.errors import PageFailed
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.preprocess import preprocess_page


def measure(name: str, found: Sequence[Case], store: Path) -> Iterator[Row]:
    """A row for each kind of page under the recipe of profile `name`, and one for all."""
    recipe = profiles.get(name).recipe().model_copy(update={"resolution": "legible"})
    by_kind: dict[str, list[PageImage]] = defaultdict(list)
    for case in found:
        try:
            image = preprocess_page(case.path, case.media_type, case.page_no, recipe, store)
        except PageFailed as error:
            print(f"{case.path.name}, page {case.page_no}: {error}", file=sys.stderr)
            continue
        if not image.is_blank:
            by_kind[case.kind].append(image)
    for kind in (kind for kind in KINDS if kind in by_kind):
        yield _row(name, kind, by_kind[kind], recipe)
    yield _row(name, "all", [image for images in by_kind.values() for image in images], recipe)


def _row(name: str, kind: str, images: Sequence[PageImage], recipe: Recipe) -> Row:
    tokens = [image.width_px * image.height_px / recipe.grid_px**2 for image in images]
    most = mean(count + image.tokens_saved for count, image in zip(tokens, images, strict=True))
    return {
        "profile": name,
        "page": kind,
        "pages": len(images),
        "tokens_max": round(most),
        "tokens_legible": round(mean(tokens)),
        "times_fewer": round(most / mean(tokens), 2),
        "at_the_most": sum(not image.tokens_saved for image in images),
    }


def main() -> int:
    """0 once all profiles have their rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--profiles", nargs="+", default=["glm-ocr", "chandra-2"])
    parser.add_argument("--pages", type=int, default=4, help="at most so many pages of a document")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    found = list(cases(wish.documents, wish.pages))
    journal = Journal(
        "sizes",
        "Image tokens by resolution",
        machine() | facts.documents(wish.documents),
        wish.out,
    )
    with tempfile.TemporaryDirectory(prefix="pm-") as store:
        for name in wish.profiles:
            for row in measure(name, found, Path(store)):
                journal.add(row)
    journal.finish()
    return 0


if __name__ == "__main__":
    arguments.run(main)
