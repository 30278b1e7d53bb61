"""What each step of a tuning brings, one by one, on your own server and documents.

    python -m bench.ablation PROFILE DOCUMENT… --model PATH [--pages N] [--tokens N] [--out FOLDER]

The four steps of a published tuning of Chandra on vLLM: as it comes; pictures turned, RGB, long edge
1,024 px, JPEG q90, and better server flags; four requests in flight; larger batches (max-num-batched-tokens
6,144, block size 16). Two more are pagemill's own: pictures no larger than legible, and as many requests in
flight as the profile allows. Seconds a page are wall time over pages, as in the article.
"""

import argparse
import io
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from bench import arguments, load, pictures, served
from bench.result import Journal, Row
from bench.sweep import parser, told
from bench.watch import Gauge
from models import profiles
from models.profile import Profile
from tasks.work.serving import vllm

_GOOD = ("--max-num-seqs", "64", "--gpu-memory-utilization", "0.9", "--mm-processor-cache-gb", "0")
_LONG_EDGE_PX = 1024
_UNUSED = ("--url", "--api-key", "--with", "--bare", "--in-flight", "--resolution", "--recipe")
"""The steps say these."""
_LARGE = ("--max-num-batched-tokens", "6144", "--block-size", "16")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: how pictures are made, how many requests are in flight, and the server's flags."""

    name: str
    resolution: str
    in_flight: int = 1
    flags: tuple[str, ...] = ()
    is_prepared: bool = True
    """False: the picture at full size as PNG, as a program without care sends it."""
    is_bare: bool = True
    """The server has these flags alone; False: the profile's too."""


STEPS = (
    Step("as it comes", "max", is_prepared=False),
    Step("pictures prepared, better flags", "fixed", flags=_GOOD),
    Step("4 in flight", "fixed", 4, _GOOD),
    Step("larger batches", "fixed", 4, _GOOD + _LARGE),
    Step("legible pictures", "legible", 4, _GOOD + _LARGE),
    Step("profile's flags, 256 in flight", "legible", 256, is_bare=False),
)


def measure(profile: Profile, wish: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """One row a step; servers are started anew only where the flags change."""
    servers = dict.fromkeys((step.flags, step.is_bare) for step in STEPS)
    for number, (flags, is_bare) in enumerate(servers):
        plan = served.plan(profile, wish.model, wish.python, [*flags, *wish.flag], is_bare=is_bare)
        with served.serving(plan, folder / f"vllm-{number}.log") as url:
            for step in (step for step in STEPS if (step.flags, step.is_bare) == (flags, is_bare)):
                yield _row(step, profile, wish, url, folder)


def _row(step: Step, profile: Profile, wish: argparse.Namespace, url: str, folder: Path) -> Row:
    model = served.vlm_of(profile)
    options = [f"resolution={step.resolution}"]
    if step.resolution == "fixed":
        options.append(f"long_edge_px={_LONG_EDGE_PX}")
    recipe = profile.recipe().with_options(options)
    made = pictures.make(pictures.files(wish.documents), recipe, folder / "store", wish.pages, wish.jobs)
    paths = [page.path if step.is_prepared else _as_png(page.path) for page in made]
    count = wish.pages * (4 if step.in_flight > 4 else 1)
    bodies = [load.body(paths[n % len(paths)], model, wish.tokens) for n in range(count)]
    load.check(url, bodies[:2])
    with Gauge() as gauge:
        volley = load.fire(url, bodies, step.in_flight)
    seconds = volley.wall_s / max(1, len(volley.shots) - volley.failed)
    return {"step": step.name, "s_per_page": round(seconds, 4), **volley.row(), **gauge.row()}


def _as_png(path: Path) -> Path:
    """The picture as PNG, in the size it has."""
    target = path.with_suffix(".png")
    if not target.exists():
        data = io.BytesIO()
        with Image.open(path) as image:
            ImageOps.exif_transpose(image).save(data, "PNG")
        target.write_bytes(data.getvalue())
    return target


def with_gain(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with their seconds a page relative to the first one."""
    first = float(rows[0]["s_per_page"] or 1)
    return tuple({**row, "of_first": round(float(row["s_per_page"] or 0) / first, 4)} for row in rows)


def main() -> None:
    """Measure, print, save."""
    wish = parser(__doc__, without=_UNUSED).parse_args()
    profile = profiles.get(wish.profile)
    served.vlm_of(profile)
    about, rows = "what each step of a tuning brings", list[Row]()
    journal = Journal("ablation", about, told(wish, "") | vllm.find(wish.python).facts(), wish.out)
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        for row in measure(profile, wish, Path(folder)):
            journal.add(row)
            rows.append(row)
    journal.finish(with_gain(rows))


if __name__ == "__main__":
    arguments.run(main)
