"""A scripted server in a process of its own, so that its CPU is not the client's; it tells who came when.

    python -m bench.double [--slots 32] [--seconds 1.0] [--words 300]

Prints its URL, answers every page with so many words after so many seconds, and ends with its input: then it
prints the requests it had as JSON.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm

_WORDS = (
    "the pump of a cellar stands under water when rain has come and its valve was left open by those who "
    "should have closed it before leaving for home in evening as every keeper knows from long practice"
)


@dataclass(frozen=True, slots=True)
class Seat:
    """One request, in seconds of the machine's monotonic clock: came, was worked on, was answered."""

    came: float
    seated: float
    ended: float


@dataclass
class Double:
    """A server that runs elsewhere, and what it tells in the end."""

    url: str
    slots: int
    seats: list[Seat] = field(default_factory=list)
    """Empty until it has ended."""


def profile_file(name: str) -> str:
    """A profile to be read at a double: TOML, a plain prompt, each page asked once."""
    return f"""\
title = "A scripted server, asked once a page"
ladder = []

[vlm]
served_name = "{name}"

[vlm.tasks.text]
prompt = "Text:"
parser = "markdown"
about = "the text"
"""


@contextmanager
def double(slots: int, seconds: float, words: int) -> Iterator[Double]:
    """A server for the time of a `with`; its `seats` are told after that."""
    command = [sys.executable, "-m", "bench.double", "--slots", str(slots), "--seconds", str(seconds)]
    process = subprocess.Popen(
        [*command, "--words", str(words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    told = Double(process.stdout.readline().strip(), slots)
    try:
        yield told
    finally:
        rest, _ = process.communicate()
        told.seats = [Seat(*times) for times in json.loads(rest or "[]")]


def filled(seats: Sequence[Seat], slots: int) -> float:
    """Share of `slots` in work from the first request until the last one came."""
    first, last = min(seat.came for seat in seats), max(seat.came for seat in seats)
    worked = sum(max(0.0, min(seat.ended, last) - seat.seated) for seat in seats)
    return worked / (slots * (last - first)) if last > first else 0.0


def filled_at(seats: Sequence[Seat], slots: int, moments: Sequence[float]) -> float | None:
    """Mean share of `slots` in work at these moments; None without any."""
    if not moments:
        return None
    counts = [sum(seat.seated <= moment < seat.ended for seat in seats) for moment in moments]
    return sum(counts) / (slots * len(moments))


def main() -> None:
    """Serve until nobody holds the other end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each page")
    parser.add_argument("--words", type=int, default=300, help="of each answer")
    wish = parser.parse_args()

    vocabulary = _WORDS.split()

    def answer(asked: Asked) -> Said:
        """Other words for each page: no two answers are the same."""
        chosen = random.Random(asked.number).choices(vocabulary, k=wish.words)
        lines = (" ".join(chosen[at : at + 12]) for at in range(0, len(chosen), 12))
        return Said("\n".join(lines), seconds=wish.seconds)

    with ScriptedVllm(answer, model=Model(context=131_072), slots=wish.slots) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        seats = [(one.started, one.seated, one.ended) for one in server.entries if one.seated and one.ended]
    print(json.dumps(seats))


if __name__ == "__main__":
    main()
