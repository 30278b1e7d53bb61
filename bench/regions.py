"""Reading by regions: what it costs, what it keeps of a page, and how well a served model reads by it.

    python -m bench.regions [--pages 5]
    python -m bench.regions FOLDER [--pages 2]
    python -m bench.regions --url http://127.0.0.1:8000 --profile tiny.toml [--pages 10]

The first cuts made pages of nine kinds, whose lines are known, into regions. The second does so with the
first pages of documents with a ground truth, prepared for `glm-ocr`; where words of born-digital ones stand
is known from their text layers. The third has the model read made pages whole and by regions. Error rates
are over all characters together; a line read across two columns is wrong.
"""

import argparse
import io
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench import arguments
from bench.region_sheets import KINDS, SMALL, Sheet, columns, single
from bench.truths import requests, truths
from models import profiles
from models.engine import OcrRequest
from models.errors import PageFailed
from models.geometry import Box, Transform
from models.page import PageImage
from models.profile import Profile
from models.servers import OcrServers
from tasks.work import regions_net
from tasks.work.custom import load_profile
from tasks.work.engines.vllm import VllmEngine, open_engine
from tasks.work.media import sniff
from tasks.work.metrics import cer
from tasks.work.regions import Part, parts_of
from tasks.work.regions_asked import by_regions, joined_regions
from tasks.work.split import split_pages
from tasks.work.store import Store

READ: Mapping[str, Callable[[int], Sheet]] = {
    "two columns, A4": columns,
    "one column, A4": single,
    "one column, 784 x 560": lambda seed: single(seed, SMALL),
}
_DARK = 128


@dataclass(frozen=True, slots=True)
class Kept:
    """What a page's regions keep of it. Of a page that is asked for whole, everything."""

    regions: int
    lines: int
    cut: int
    """Lines that no region shows whole."""
    ink: float
    """Share of the lines' ink that no region shows."""
    order: float
    """Share of pairs of lines that are read in their order, lines of one region from top to bottom."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One page cut into regions; one region: it is asked for whole."""

    regions: int
    seconds: float
    """CPU."""


@dataclass(frozen=True, slots=True)
class Read:
    """One page read whole and by regions: characters, and those that were wrong."""

    chars: int
    whole: float
    by_regions: float


def kept(sheet: Sheet) -> Kept:
    """One page, cut as for reading."""
    parts = parts_of(sheet.picture, regions_net.find(sheet.picture))
    dark = np.asarray(sheet.picture.convert("L")) < _DARK
    lines = [box for box in (_ink(dark, box) for box in sheet.boxes) if box]
    if not parts:
        return Kept(1, len(lines), 0, 0.0, 1.0)
    owners = [next((n for n, part in enumerate(parts) if _shows(part, line)), None) for line in lines]
    keys = [(owner, line.y0, line.x0) for owner, line in zip(owners, lines, strict=True) if owner is not None]
    pairs = [one < other for one, other in combinations(keys, 2)]
    unseen = _unseen(dark, parts)
    left_out = sum(int(_of(unseen, line).sum()) for line in lines)
    ink = left_out / sum(int(_of(dark, line).sum()) for line in lines)
    return Kept(len(parts), len(lines), owners.count(None), ink, mean(pairs) if pairs else 1.0)


def layers(folder: Path, most: int, home: Path) -> Iterator[Sheet]:
    """The first pages of born-digital documents, with the words of their text layers."""
    profile = profiles.get("glm-ocr")
    for truth in truths(folder):
        if not truth.kind.startswith("born-digital"):
            continue
        asked = requests(truth, profile, most, home)
        pages = split_pages(truth.path, sniff(truth.path), 1, len(asked), truth.passwords)
        for request, page in zip(asked, pages, strict=True):
            to_pixels = request.image.transform.inverse()
            with Image.open(request.path) as picture:
                boxes = tuple(to_pixels.box(word.box) for word in page.words)
                yield Sheet(picture.convert("RGB"), (), boxes)


def _ink(dark: npt.NDArray[np.bool_], box: Box) -> Box | None:
    """The box around the ink in a box; None without any."""
    rows, across = np.nonzero(_of(dark, box))
    if not len(rows):
        return None
    left, top = int(max(0, box.x0)), int(max(0, box.y0))
    right, bottom = left + int(across.max()) + 1, top + int(rows.max()) + 1
    return Box(left + int(across.min()), top + int(rows.min()), right, bottom)


def _of(mask: npt.NDArray[np.bool_], box: Box) -> npt.NDArray[np.bool_]:
    return mask[int(max(0, box.y0)) : int(max(0, box.y1)), int(max(0, box.x0)) : int(max(0, box.x1))]


def _shows(part: Part, line: Box) -> bool:
    crop = part.crop
    is_within = crop.x0 <= line.x0 and line.x1 <= crop.x1 and crop.y0 <= line.y0 and line.y1 <= crop.y1
    return is_within and not any(
        box.x0 < line.x1 and line.x0 < box.x1 and box.y0 < line.y1 and line.y0 < box.y1
        for box in part.foreign
    )


def _unseen(dark: npt.NDArray[np.bool_], parts: list[Part]) -> npt.NDArray[np.bool_]:
    unseen = dark.copy()
    for part in parts:
        shown = np.zeros_like(dark)
        _of(shown, part.crop)[:] = True
        for box in part.foreign:
            _of(shown, box)[:] = False
        unseen &= ~shown
    return unseen


def cuts(folder: Path, most: int, home: Path) -> Iterator[Cut]:
    """The first pages of each document of a folder, blank ones left out."""
    profile = profiles.get("glm-ocr")
    for truth in truths(folder):
        for request in requests(truth, profile, most, home):
            if not request.image.is_blank:
                yield cut(request, profile, home)


def cut(request: OcrRequest, profile: Profile, home: Path) -> Cut:
    """One page."""
    started = time.process_time()
    return Cut(len(asked(request, profile, home)), time.process_time() - started)


def asked(request: OcrRequest, profile: Profile, home: Path) -> tuple[OcrRequest, ...]:
    """Requests for a page's regions, or for all of it."""
    assert profile.vlm is not None
    try:
        return by_regions(request, profile.vlm, home)
    except PageFailed:
        return (request,)


def read(engine: VllmEngine, profile: Profile, sheet: Sheet, home: Path) -> Read:
    """One made page, both ways."""
    told, request = sheet.text, request_of(sheet.picture, profile, home)
    parts = asked(request, profile, home)
    whole, *pieces = [future.result() for future in [engine.submit(one) for one in (request, *parts)]]
    errors = [cer(told, text) * len(told) for text in (whole.text, joined_regions(parts, pieces).text)]
    return Read(len(told), *errors)


def request_of(page: Image.Image, profile: Profile, home: Path) -> OcrRequest:
    """The request for a picture of a page at 150 dpi."""
    data, store = io.BytesIO(), Store(home)
    page.save(data, "PNG")
    sha256 = store.put(data.getvalue(), ".png")
    image = PageImage(sha256, ".png", *page.size, Transform.scale(0.48, 0.48), 0.1, is_blank=False)
    return OcrRequest(image, store.path(sha256, ".png"), 595, 842, profile.recipe())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.regions", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--url", help="of a server, to read made pages with")
    parser.add_argument("--profile", type=Path, help="file of the profile that is served there")
    parser.add_argument("--pages", type=int, default=5)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        if told.url:
            _print_reads(told.url, load_profile(told.profile), told.pages, home)
        elif told.folder:
            _print_cuts(list(cuts(told.folder, told.pages, home)))
            _print_kept("words of text layers", [kept(one) for one in layers(told.folder, told.pages, home)])
        else:
            for name, make in KINDS.items():
                _print_kept(name, [kept(make(number)) for number in range(told.pages)])


def _print_kept(name: str, made: list[Kept]) -> None:
    lines, cut = sum(one.lines for one in made), sum(one.cut for one in made)
    print(
        f"{name}: pages {len(made)}, regions {mean(one.regions for one in made):.1f}, lines {lines}, "
        f"cut {cut / lines:.2%}, ink left out {mean(one.ink for one in made):.2%}, "
        f"in order {mean(one.order for one in made):.1%}"
    )


def _print_cuts(made: list[Cut]) -> None:
    seconds = sorted(one.seconds for one in made[1:])  # the first one loads the detector
    several = [one.regions for one in made if one.regions > 1]
    print(f"pages {len(made)}, asked for whole {len(made) - len(several)}")
    print(f"regions of the others: mean {mean(several):.1f}, most {max(several)}")
    print(f"CPU s a page: median {median(seconds):.2f}, most {seconds[-1]:.2f}")


def _print_reads(url: str, profile: Profile, pages: int, home: Path) -> None:
    engine = open_engine(profile, OcrServers((url,), "", 300.0))
    try:
        for name, make in READ.items():
            made = [read(engine, profile, make(number), home) for number in range(pages)]
            chars = sum(one.chars for one in made)
            whole, parts = sum(one.whole for one in made), sum(one.by_regions for one in made)
            print(f"{name}: pages {pages}, characters {chars}, ", end="")
            print(f"error rate: whole {whole / chars:.2%}, by regions {parts / chars:.2%}")
    finally:
        engine.close()


if __name__ == "__main__":
    arguments.run(main)
