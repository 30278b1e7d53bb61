"""One round of measurements on a GPU: models of full size whose weights may be random.

    python -m bench.gpu DOCUMENT… --glm FOLDER --qwen FOLDER [--python PATH] [--steps default,tuned,vlm]
        [--pages 1000] [--tokens 512] [--out FOLDER]

default: GLM-OCR with vLLM's own defaults, requests in flight against speed. tuned: the same with the
profile's flags and its option h200; pictures at full, fixed and legible size; the whole pipeline against the
raw server. vlm: an 8B model of Ostrakon's architecture, one to twenty photos in flight, and the same in
Transformers. Every figure is to be compared with others of the same round only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from bench import load, pictures, pipeline, served, sweep
from bench.result import Result, Row, machine
from bench.watch import Gauge
from models import profiles
from models.profile import Profile
from models.vlm import Vlm

_SIZES = ("max", "fixed", "legible")
_MANY = 256


def made(profile: Profile, wish: argparse.Namespace, folder: Path, resolution: str) -> list[Path]:
    """Page pictures at a resolution."""
    recipe = profile.recipe().with_options([f"resolution={resolution}"])
    found = pictures.make(pictures.files(wish.documents), recipe, folder, wish.pages, wish.jobs)
    return [picture.path for picture in pictures.repeated(found, wish.pages)]


def default(wish: argparse.Namespace, folder: Path) -> None:
    """VLLM as it comes, pictures at full size."""
    profile, vlm = _profile("glm-ocr")
    bodies = [load.body(path, vlm, wish.tokens) for path in made(profile, wish, folder, "max")]
    with serving(profile, wish.glm, wish, folder, is_bare=True) as url:
        rows = list(sweep.sweep(url, bodies, [1, 16, 64, _MANY]))
    _save("gpu-default", "GLM-OCR, vLLM's defaults, pictures at full size", rows, wish)


def tuned(wish: argparse.Namespace, folder: Path) -> None:
    """The profile's flags: in flight, picture sizes, pipeline."""
    profile, vlm = _profile("glm-ocr")
    paths = {size: made(profile, wish, folder, size) for size in _SIZES}
    with serving(profile, wish.glm, wish, folder, options=["h200"]) as url:
        full = [load.body(path, vlm, wish.tokens) for path in paths["max"]]
        found = list(sweep.sweep(url, full, [1, 64, _MANY]))
        _save("gpu-tuned", "GLM-OCR, tuned flags, full size", found, wish)
        rows = [_size_row(url, vlm, size, paths[size], wish) for size in _SIZES]
        _save("gpu-resolution", "pages/s by size of the pictures", rows, wish)
        told = pipeline.compared(list(pipeline.measure(profile, _for_pipeline(wish), url, folder)))
        _save("gpu-pipeline", "the whole pipeline against ready-made requests", told, wish)


def vlm(wish: argparse.Namespace, folder: Path) -> None:
    """An 8B model: one to twenty in flight, then plain Transformers on the same pictures."""
    profile, model = _profile("ostrakon")
    paths = made(profile, wish, folder, "fixed")[:80]
    bodies = [load.body(path, model, 128) for path in paths]
    with serving(profile, wish.qwen, wish, folder) as url:
        rows = list(sweep.sweep(url, bodies, [1, 3, 5, 10, 20]))
    _save("gpu-vlm", "8B vision-language model, 128 tokens a reply", rows, wish)
    command = [str(wish.python or sys.executable), str(Path(__file__).with_name("plain.py")), wish.qwen]
    command += [*map(str, paths[:20]), "--tokens", "128", "--batches", "1,20", "--requests", "20", "--random"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    plain: list[Row] = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    _save("gpu-transformers", "the same model and pictures in Transformers", plain, wish)


def serving(
    profile: Profile,
    model: str,
    wish: argparse.Namespace,
    folder: Path,
    *,
    options: Sequence[str] = (),
    is_bare: bool = False,
) -> AbstractContextManager[str]:
    """A server of the model for the time of a `with`."""
    extra = ["--load-format", "dummy"] if wish.random else []
    plan = served.plan(profile, model, wish.python, extra, options=options, is_bare=is_bare)
    return served.serving(plan, folder / "vllm.log")


def _size_row(url: str, vlm: Vlm, size: str, paths: Sequence[Path], wish: argparse.Namespace) -> Row:
    bodies = [load.body(path, vlm, wish.tokens) for path in paths]
    with Gauge() as gauge:
        volley = load.fire(url, bodies, _MANY)
    row = {"resolution": size, **volley.row(), **gauge.row()}
    print(row, flush=True)
    return row


def _for_pipeline(wish: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(
        documents=wish.documents,
        resolution="",
        tokens=wish.tokens,
        jobs=wish.jobs,
        in_flight=str(_MANY),
        api_key="",
    )


def _profile(name: str) -> tuple[Profile, Vlm]:
    profile = profiles.get(name)
    return profile, served.vlm_of(profile)


def _save(name: str, about: str, rows: Sequence[Row], wish: argparse.Namespace) -> None:
    facts = machine() | {"tokens": wish.tokens, "pages": wish.pages, "weights": "random"}
    result = Result(name, about, tuple(rows), facts)
    print(f"\n{about}\n{result.table()}\n", result.save(wish.out), flush=True)


def main() -> None:
    """Measure the steps that were wished for, each kept as soon as it has ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--glm", default="")
    parser.add_argument("--qwen", default="")
    parser.add_argument("--python", type=Path)
    parser.add_argument("--random", action="store_true", help="the folders hold no weights")
    parser.add_argument("--steps", default="default,tuned,vlm")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    steps = {"default": default, "tuned": tuned, "vlm": vlm}
    for name in wish.steps.split(","):
        with tempfile.TemporaryDirectory(prefix="pm-") as folder:
            steps[name](wish, Path(folder))


if __name__ == "__main__":
    main()
