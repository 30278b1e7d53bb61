"""Servers that run already, measured in turn on the same pages: which of them is faster, and how much.

    python -m bench.turns PROFILE DOCUMENT… --server NAME=URL[,URL] --server NAME=URL … [--in-flight 128]
        [--pages N] [--rounds N] [--tokens N] [--recipe KEY=VALUE] [--out FOLDER]

Each round has pages of its own, which every server gets once: a cache of what was seen helps none. The next
round goes through the servers the other way round, so that a machine that gets slower or faster favours none.
The first server is what the others are held against. Several addresses of one server share its requests.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench import arguments, facts, load, served, sweep
from bench.result import Journal, Row, Value, machine
from bench.watch import Gauge
from models import profiles
from models.errors import ConfigurationError
from models.vlm import Vlm

_WARM_PAGES = 8
_OF_ONE_SERVER = ("--url", "--model", "--python", "--flag", "--with", "--bare", "--in-flight")


def turns(
    servers: Mapping[str, str], rounds: Sequence[Sequence[bytes]], in_flight: int, api_key: str = ""
) -> Iterator[Row]:
    """A row for each server and round, as soon as it is measured."""
    order = list(servers)
    for number, bodies in enumerate(rounds, 1):
        for name in order:
            with Gauge() as gauge:
                volley = load.fire(servers[name], bodies, in_flight, api_key)
            yield {"server": name, "round": number, **volley.row(), **gauge.row()}
        order.reverse()


def compared(rows: Sequence[Row], first: str) -> list[Row]:
    """The rows with how many times as fast as `first` each was in its round; then all rounds of each server.

    Where a request failed there is no such figure.
    """
    found: list[Row] = [{**row, "times": _times([row], _of(rows, first, row["round"]))} for row in rows]
    for name in dict.fromkeys(row["server"] for row in rows):
        own = _of(rows, name)
        together: dict[str, Value] = {"server": name, "round": "all", "pages_per_s": _speed(own)}
        found.append(together | {"times": _times(own, _of(rows, first))})
    return found


def _of(rows: Sequence[Row], name: Value, number: Value = None) -> list[Row]:
    return [row for row in rows if row["server"] == name and number in {None, row["round"]}]


def _speed(rows: Sequence[Row]) -> float | None:
    if any(row["failed"] for row in rows):
        return None
    pages, seconds = (sum(float(row[name] or 0) for row in rows) for name in ("pages", "wall_s"))
    return round(pages / seconds, 3)


def _times(rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    speed, other = _speed(rows), _speed(others)
    return round(speed / other, 3) if speed and other else None


def servers_of(typed: Sequence[str]) -> dict[str, str]:
    """Servers by name, as typed. Raises ConfigurationError for fewer than two, or for one without a name."""
    pairs = [text.partition("=") for text in typed]
    wrong = [text for text, (name, _, url) in zip(typed, pairs, strict=True) if not (name and url)]
    if wrong:
        raise ConfigurationError(f"--server takes NAME=URL, not '{wrong[0]}'.")
    found = {name: url for name, _, url in pairs}
    if len(found) < 2 or len(found) < len(pairs):
        raise ConfigurationError("Two servers at least, each with a name of its own: --server NAME=URL.")
    return found


def main() -> None:
    """Measure, print, save."""
    typed = sweep.parser(__doc__, without=_OF_ONE_SERVER)
    typed.add_argument("--server", action="append", default=[], metavar="NAME=URL", help="one more of them")
    typed.add_argument("--in-flight", type=arguments.count, default=128, metavar="N", help="requests at once")
    typed.add_argument("--rounds", type=arguments.count, default=2, metavar="N", help="of --pages pages each")
    wish = typed.parse_args()
    servers = servers_of(wish.server)
    vlm = served.vlm_of(profiles.get(wish.profile))
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        rounds, warm = _rounds(wish, Path(folder), vlm)
        for url in servers.values():
            load.check(url, warm, wish.api_key)
        journal = Journal("turns", "servers in turn on the same pages", _told(wish, servers), wish.out)
        rows = list[Row]()
        for row in turns(servers, rounds, wish.in_flight, wish.api_key):
            journal.add(row)
            rows.append(row)
        journal.finish(compared(rows, next(iter(servers))))


def _rounds(wish: argparse.Namespace, folder: Path, vlm: Vlm) -> tuple[list[list[bytes]], list[bytes]]:
    """The requests of each round, and some more to warm the servers up."""
    wanted = argparse.Namespace(**vars(wish) | {"pages": wish.pages * wish.rounds + _WARM_PAGES})
    bodies = [
        load.body(page.path, vlm, wish.tokens)
        for page in sweep.prepared(profiles.get(wish.profile), wanted, folder)
    ]
    parts = [bodies[n * wish.pages : (n + 1) * wish.pages] for n in range(wish.rounds)]
    return parts, bodies[-_WARM_PAGES:]


def _told(wish: argparse.Namespace, servers: Mapping[str, str]) -> dict[str, Value]:
    asked = {name: getattr(wish, name) for name in ("profile", "pages", "rounds", "tokens")}
    versions = {
        f"{name}: {fact}": value
        for name, url in servers.items()
        for fact, value in facts.server(url, wish.api_key).items()
    }
    asked["recipe"] = " ".join(sweep.recipe_options(wish))
    return machine() | versions | facts.documents(wish.documents) | asked


if __name__ == "__main__":
    arguments.run(main)
