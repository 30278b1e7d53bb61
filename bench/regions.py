"""What reading by regions costs on the CPU, and how well a served model reads two columns by them.

    python -m bench.regions FOLDER [--pages 2]
    python -m bench.regions --url http://127.0.0.1:8000 --profile tiny.toml [--pages 10]

The first prepares the first pages of documents with a ground truth for `glm-ocr` and cuts them into regions.
The second makes pages of words in two columns with a title over them, A4 at 150 dpi, and has the model read
them whole and by regions. Error rates are over all characters together; a line read across both columns is
wrong.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import mean, median

from PIL import Image, ImageDraw, ImageFont

from bench.truths import requests, truths
from models import profiles
from models.engine import OcrRequest
from models.errors import PageFailed
from models.geometry import Transform
from models.page import PageImage
from models.profile import Profile
from models.servers import OcrServers
from tasks.work.custom import load_profile
from tasks.work.engines.vllm import VllmEngine, open_engine
from tasks.work.metrics import cer
from tasks.work.regions_asked import by_regions, joined_regions
from tasks.work.store import Store

SIZE = (1_240, 1_754)
_FONT_PX, _LINE_PX, _WIDTH = 24, 36, 440
_LINES, _PASSAGES = 6, 3
_WORDS = Path(__file__).parents[1] / "samples" / "truth"


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


def sheet(number: int) -> tuple[Image.Image, str]:
    """A page of two columns, always the same for a number, and what is printed on it."""
    rng, page = random.Random(number), Image.new("RGB", SIZE, "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(_FONT_PX)
    words = [word for path in sorted(_WORDS.glob("*.txt")) for word in path.read_text("utf-8").split()]
    plain = sorted({word.lower() for word in words if word.isascii() and word.isalpha() and len(word) > 2})
    told: list[str] = []

    def passage(left: int, top: int, lines: int) -> None:
        made = []
        for line in range(lines):
            text = rng.choice(plain)
            while pen.textlength(f"{text} {(word := rng.choice(plain))}", font=font) < _WIDTH:
                text += f" {word}"
            pen.text((left, top + line * _LINE_PX), text, fill="black", font=font)
            made.append(text)
        told.append("\n".join(made))

    passage(120, 100, 1)
    for left in (120, 660):
        for place in range(_PASSAGES):
            passage(left, 220 + place * (_LINES * _LINE_PX + 60), _LINES)
    return page, "\n\n".join(told)


def read(engine: VllmEngine, profile: Profile, number: int, home: Path) -> Read:
    """One made page, both ways."""
    page, told = sheet(number)
    request = _request(page, profile, home)
    parts = asked(request, profile, home)
    whole, *pieces = [future.result() for future in [engine.submit(one) for one in (request, *parts)]]
    errors = [cer(told, text) * len(told) for text in (whole.text, joined_regions(parts, pieces).text)]
    return Read(len(told), *errors)


def _request(page: Image.Image, profile: Profile, home: Path) -> OcrRequest:
    path = home / "page.png"
    page.save(path)
    data = path.read_bytes()
    image = PageImage(
        Store(home).put(data, ".png"), ".png", *SIZE, Transform.scale(0.48, 0.48), 0.1, is_blank=False
    )
    assert image.sha256 == sha256(data).hexdigest()
    return OcrRequest(image, Store(home).path(image.sha256, ".png"), 595, 842, profile.recipe())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.regions", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--url", help="of a server, to read made pages with")
    parser.add_argument("--profile", type=Path, help="file of the profile that is served there")
    parser.add_argument("--pages", type=int, default=2)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        if told.folder:
            _print_cuts(list(cuts(told.folder, told.pages, home)))
        if told.url:
            profile = load_profile(told.profile)
            engine = open_engine(profile, OcrServers((told.url,), "", 300.0))
            try:
                _print_reads([read(engine, profile, number, home) for number in range(told.pages)])
            finally:
                engine.close()


def _print_cuts(made: list[Cut]) -> None:
    seconds = sorted(one.seconds for one in made[1:])  # the first one loads the detector
    several = [one.regions for one in made if one.regions > 1]
    print(f"pages {len(made)}, asked for whole {len(made) - len(several)}")
    print(f"regions of the others: mean {mean(several):.1f}, most {max(several)}")
    print(f"CPU s a page: median {median(seconds):.2f}, most {seconds[-1]:.2f}")


def _print_reads(made: list[Read]) -> None:
    chars = sum(one.chars for one in made)
    print(f"pages {len(made)}, characters {chars}")
    print(
        f"error rate: whole {sum(one.whole for one in made) / chars:.2%}, "
        f"by regions {sum(one.by_regions for one in made) / chars:.2%}"
    )


if __name__ == "__main__":
    main()
