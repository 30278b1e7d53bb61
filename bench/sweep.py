"""Requests in flight against speed: where a server is full.

    python -m bench.sweep PROFILE DOCUMENT… [--url URL | --model PATH [--bare]] [--in-flight 1,4,16,64]
        [--pages N] [--tokens N] [--resolution legible] [--plain] [--out FOLDER]

Sends ready-made requests, made of the documents' pages, N at a time: pages and tokens a second, latency, and
the GPU's state meanwhile. `--tokens` fixes the length of every reply, so that weights of any kind, random
ones too, measure the same work. `--bare` starts the server without the profile's flags. `--plain` measures
the same weights and pictures in plain Transformers too, after the server has ended: batches of so many, as
far as they fit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from bench import arguments, facts, load, pictures, served
from bench.result import Journal, Row, Value, machine
from bench.watch import Gauge
from models import profiles
from models.errors import ConfigurationError
from models.profile import Profile
from tasks.work.serving import vllm

_LEAST_PAGES = 8
_OPTIONS: dict[str, dict[str, Any]] = {
    "--url": {"default": "", "help": "a server that runs, or several with commas; else one is started"},
    "--api-key": {"default": "", "metavar": "KEY", "help": "where the server wants one"},
    "--model": {"default": "", "metavar": "PATH", "help": "weights for the server that is started"},
    "--python": {"type": Path, "metavar": "PATH", "help": "Python of vLLM's environment"},
    "--flag": {"action": "append", "default": [], "help": "one more for the server; repeatable"},
    "--with": {
        "dest": "options", "action": "append", "default": [], "metavar": "OPTION", "help": "of the profile",
    },
    "--bare": {"action": "store_true", "help": "without the profile's flags"},
    "--in-flight": {"default": "1,4,16,64,256", "metavar": "N,N", "help": "requests at once"},
    "--pages": {"type": arguments.count, "default": 200, "metavar": "N", "help": "at most"},
    "--tokens": {"type": arguments.count, "default": 512, "metavar": "N", "help": "of every reply"},
    "--resolution": {"default": "", "choices": ["", "fixed", "legible", "max"]},
    "--recipe": {
        "action": "append", "default": [], "metavar": "KEY=VALUE", "help": "as of pagemill ingest",
    },
    "--jobs": {
        "type": arguments.count, "default": 2, "metavar": "N", "help": "processes that make pictures",
    },
}  # fmt: skip


def sweep(url: str, bodies: Sequence[bytes], widths: Sequence[int], api_key: str = "") -> Iterator[Row]:
    """One row for each number of requests in flight; slow ones get fewer pages.

    Each row has pages of its own as long as there are some: a server that keeps what it has seen answers the
    same page faster.
    """
    load.check(url, bodies[-_LEAST_PAGES:], api_key)
    fresh = list(bodies)
    for width in widths:
        count = min(len(bodies), max(_LEAST_PAGES, width * 4))
        if len(fresh) >= width * 2:
            count = min(count, len(fresh))
        seen = max(0, count - len(fresh))
        chosen, fresh = [*fresh[:count], *bodies[:seen]], fresh[count:]
        with Gauge() as gauge:
            volley = load.fire(url, chosen, width, api_key)
        yield {**volley.row(), "seen_before": seen, **gauge.row()}


def main() -> None:
    """Measure, print, save."""
    typed = parser(__doc__)
    typed.add_argument("--plain", action="store_true", help="the same weights in plain Transformers too")
    wish = typed.parse_args()
    profile = profiles.get(wish.profile)
    vlm, widths = served.vlm_of(profile), numbers(wish.in_flight)
    if wish.plain and not wish.model:
        raise ConfigurationError("--plain needs the weights: --model PATH.")
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        pages = prepared(profile, wish, Path(folder))
        rows = list[Row]()
        with ExitStack() as stack:
            url = wish.url or stack.enter_context(_serving(profile, wish, Path(folder)))
            bodies = [load.body(page.path, vlm, wish.tokens) for page in pages]
            journal = Journal("sweep", "requests in flight against speed", told(wish, url), wish.out)
            for row in sweep(url, bodies, widths, wish.api_key):
                journal.add(row)
                rows.append(row)
        plain = plain_rows(wish, [page.path for page in pages]) if wish.plain else []
        journal.finish(beside(rows, plain))


def plain_rows(wish: argparse.Namespace, paths: Sequence[Path]) -> list[Row]:
    """Batches of each number in flight in plain Transformers, until one does not fit or fails."""
    python = vllm.find(wish.python).python
    command = [str(python), str(Path(__file__).with_name("plain.py")), wish.model]
    command += [*map(str, paths[: max(numbers(wish.in_flight))]), "--tokens", str(wish.tokens)]
    command += ["--batches", wish.in_flight, "--rounds", "1"]
    command += ["--random"] if "dummy" in " ".join(wish.flag) else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.splitlines() or ["no word"])[-1]
        print(f"Transformers ended with {done.returncode} ({why}): the rest has no figure.", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def beside(rows: Sequence[Row], plain: Sequence[Row]) -> list[Row]:
    """The rows with what plain Transformers did with as many at once, where that was measured."""
    known = {row["batch"]: float(row["pages_per_s"] or 0) for row in plain}
    return [
        {
            **row,
            "plain_pages_per_s": known[row["in_flight"]],
            "times_plain": round(float(row["pages_per_s"] or 0) / known[row["in_flight"]], 2),
        }
        if row["in_flight"] in known
        else row
        for row in rows
    ]


def _serving(profile: Profile, wish: argparse.Namespace, folder: Path) -> AbstractContextManager[str]:
    plan = served.plan(profile, wish.model, wish.python, wish.flag, options=wish.options, is_bare=wish.bare)
    return served.serving(plan, folder / "vllm.log")


def told(wish: argparse.Namespace, url: str) -> dict[str, Value]:
    """What the figures hold for: machine, server, documents, and what was asked for."""
    asked = {name: getattr(wish, name) for name in ("profile", "pages", "tokens")}
    asked["recipe"] = " ".join(recipe_options(wish))
    flags = {"flags": "none" if wish.bare else "the profile's", "options": " ".join(wish.options)}
    return machine() | facts.server(url, wish.api_key) | facts.documents(wish.documents) | asked | flags


def numbers(text: str) -> list[int]:
    """Numbers of requests in flight, as they are typed. Raises ConfigurationError."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise ConfigurationError(f"--in-flight takes numbers from 1, as in 1,4,16; not '{text}'.")
    return found


def prepared(profile: Profile, wish: argparse.Namespace, folder: Path) -> list[pictures.Picture]:
    """As many page pictures as were wished for, of the documents wished for."""
    recipe = profile.recipe().with_options(recipe_options(wish))
    made = pictures.make(pictures.files(wish.documents), recipe, folder, wish.pages, wish.jobs)
    return pictures.repeated(made, wish.pages)


def recipe_options(wish: argparse.Namespace) -> list[str]:
    """What was wished for besides the profile's recipe, as `pagemill ingest --recipe` takes it."""
    return [*([f"resolution={wish.resolution}"] if wish.resolution else []), *wish.recipe]


def parser(about: str | None, without: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Arguments that the benchmarks of servers share; one `without` some of them has their defaults."""
    made = arguments.parser(about)
    made.add_argument("profile", help="see 'pagemill profiles'")
    made.add_argument("documents", nargs="+", type=Path, help="files and folders")
    for name, how in _OPTIONS.items():
        if name not in without:
            made.add_argument(name, **how)
        else:
            dest = how.get("dest") or name.removeprefix("--").replace("-", "_")
            made.set_defaults(**{dest: how.get("default", False)})
    arguments.add_out(made)
    return made


if __name__ == "__main__":
    arguments.run(main)
