"""One round of measurements on a GPU: models of full size whose weights may be random.

    python -m bench.gpu DOCUMENT… --glm FOLDER --qwen FOLDER [--python PATH] [--steps flags,sizes,pipeline]
        [--pages 1000] [--tokens 512] [--in-flight 1,64,256] [--out FOLDER]

flags: GLM-OCR with vLLM's own defaults, then with the profile's flags and its options h200 and fused. sizes:
pictures at legible, full and fixed size. pipeline: the whole pipeline against the raw server. vlm: an 8B
model of Ostrakon's architecture with vLLM's defaults, then with the profile's flags and fp8. plain: both
models in Transformers. Every figure is to be compared with others of the same round only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from bench import arguments, load, pictures, pipeline, served, sweep
from bench.result import Result, Row, machine
from bench.watch import Gauge
from models import profiles
from models.profile import Profile
from models.vlm import Vlm

_SIZES = ("legible", "max", "fixed")
_OPTIONS = ("h200", "fused")
_FEW_TOKENS = 128
"""As many as an answer about a photo has."""
_PLAIN_PAGES = 40
_WARM_PAGES = 8


def made(profile: Profile, wish: argparse.Namespace, folder: Path, *options: str) -> list[Path]:
    """Page pictures, by the profile's recipe with other `options`."""
    recipe = profile.recipe().with_options(options)
    found = pictures.make(pictures.files(wish.documents), recipe, folder, wish.pages, wish.jobs)
    return [picture.path for picture in pictures.repeated(found, wish.pages)]


def flags(wish: argparse.Namespace, folder: Path) -> None:
    """Requests in flight against speed: vLLM as it comes, and with the profile's flags."""
    profile, vlm = _profile("glm-ocr")
    bodies = [load.body(path, vlm, wish.tokens) for path in made(profile, wish, folder, *wish.recipe)]
    with serving(profile, wish.glm, wish, folder, is_bare=True) as url:
        _save("gpu-default", "GLM-OCR, vLLM's defaults", _swept(url, bodies, wish), wish)
    with serving(profile, wish.glm, wish, folder, options=_OPTIONS) as url:
        _save("gpu-tuned", "GLM-OCR, the profile's flags, h200 and fused", _swept(url, bodies, wish), wish)


def sizes(wish: argparse.Namespace, folder: Path) -> None:
    """Pictures of each size on a server with the profile's flags."""
    profile, vlm = _profile("glm-ocr")
    paths = {size: made(profile, wish, folder, f"resolution={size}") for size in _SIZES}
    with serving(profile, wish.glm, wish, folder, options=_OPTIONS) as url:
        rows = [_size_row(url, vlm, size, paths[size], wish) for size in _SIZES]
    _save("gpu-resolution", "pages/s by size of the pictures", rows, wish)


def whole(wish: argparse.Namespace, folder: Path) -> None:
    """The whole pipeline against the raw server, with the profile's flags."""
    profile, _ = _profile("glm-ocr")
    with serving(profile, wish.glm, wish, folder, options=_OPTIONS) as url:
        told = pipeline.compared(list(pipeline.measure(profile, _for_pipeline(wish), url, folder)))
    _save("gpu-pipeline", "the whole pipeline against ready-made requests", told, wish)


def vlm(wish: argparse.Namespace, folder: Path) -> None:
    """An 8B model with short replies: vLLM as it comes, and with the profile's flags and 8-bit weights."""
    profile, model = _profile("ostrakon")
    bodies = [load.body(path, model, _FEW_TOKENS) for path in made(profile, wish, folder)]
    with serving(profile, wish.qwen, wish, folder, is_bare=True) as url:
        _save("gpu-vlm", "8B model, vLLM's defaults", _swept(url, bodies, wish), wish, _FEW_TOKENS)
    with serving(profile, wish.qwen, wish, folder, options=["fp8"]) as url:
        about = "8B model, the profile's flags and fp8"
        _save("gpu-vlm-tuned", about, _swept(url, bodies, wish), wish, _FEW_TOKENS)


def plain(wish: argparse.Namespace, folder: Path) -> None:
    """The models that there are, in plain Transformers, on pictures and with replies as vLLM had them."""
    for name, model, tokens in (("ostrakon", wish.qwen, _FEW_TOKENS), ("glm-ocr", wish.glm, wish.tokens)):
        if not model:
            continue
        options = wish.recipe if name == "glm-ocr" else ()
        paths = made(_profile(name)[0], wish, folder, *options)[:_PLAIN_PAGES]
        command = [str(wish.python or sys.executable), str(Path(__file__).with_name("plain.py")), model]
        command += [*map(str, paths), "--tokens", str(tokens), *(["--random"] if wish.random else [])]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows: list[Row] = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        about = f"{name}'s model and pictures in Transformers"
        _save(f"gpu-transformers-{name}", about, rows, wish, tokens)


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
    extra = [*(["--load-format", "dummy"] if wish.random else []), *wish.flag]
    plan = served.plan(profile, model, wish.python, extra, options=options, is_bare=is_bare)
    return served.serving(plan, folder / "vllm.log")


def _swept(url: str, bodies: Sequence[bytes], wish: argparse.Namespace) -> list[Row]:
    rows = []
    for row in sweep.sweep(url, bodies, sweep.numbers(wish.in_flight)):
        print(row, flush=True)
        rows.append(row)
    return rows


def _size_row(url: str, vlm: Vlm, size: str, paths: Sequence[Path], wish: argparse.Namespace) -> Row:
    bodies = [load.body(path, vlm, wish.tokens) for path in paths]
    # The first pages that a server ever reads take longer: that would be told of the first size.
    load.check(url, bodies[-_WARM_PAGES:])
    with Gauge() as gauge:
        volley = load.fire(url, bodies, _most(wish))
    row = {"resolution": size, **volley.row(), **gauge.row()}
    print(row, flush=True)
    return row


def _for_pipeline(wish: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(
        documents=wish.documents,
        resolution="",
        recipe=wish.recipe,
        tokens=wish.tokens,
        jobs=wish.jobs,
        in_flight=str(_most(wish)),
        api_key="",
    )


def _most(wish: argparse.Namespace) -> int:
    return max(sweep.numbers(wish.in_flight))


def _profile(name: str) -> tuple[Profile, Vlm]:
    profile = profiles.get(name)
    return profile, served.vlm_of(profile)


def _save(name: str, about: str, rows: Sequence[Row], wish: argparse.Namespace, tokens: int = 0) -> None:
    facts = machine() | {"tokens": tokens or wish.tokens, "pages": wish.pages, "weights": "random"}
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
    parser.add_argument("--steps", default="flags,sizes,pipeline,vlm,plain")
    parser.add_argument("--in-flight", default="1,16,64,256")
    parser.add_argument("--recipe", action="append", default=[], help="key=value for GLM-OCR")
    parser.add_argument("--flag", action="append", default=[], help="more flags for every server")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    steps = {"flags": flags, "sizes": sizes, "pipeline": whole, "vlm": vlm, "plain": plain}
    for name in wish.steps.split(","):
        with tempfile.TemporaryDirectory(prefix="pm-") as folder:
            steps[name](wish, Path(folder))


if __name__ == "__main__":
    arguments.run(main)
