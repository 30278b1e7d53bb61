"""A server that answers every page after the same time with as many words, as its client expects them.

    python -m bench.peers.server --port 25000 --slots 16 --seconds 2

Prints its URL when it listens, then waits for lines: for each it prints what it was asked since the last one,
as JSON. It runs in a process of its own, so that its CPU time is nobody else's. The end of its input ends it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from bench.double import Seat, filled
from bench.peers import MODEL
from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm
from tasks.work.doubles.vllm_server.record import Entry

TOKENS = 512
_LINES = 24
_WORDS = (
    *("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while"),
    *("seven", "wizards", "pack", "boxes", "of", "liquor", "jugs", "and", "read"),
)
_FRONT = (
    "---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\n"
    "is_table: False\nis_diagram: False\n---\n"
)


@dataclass(frozen=True, slots=True)
class Asking:
    """What a client asked, and how well it filled the slots."""

    requests: int
    most_in_flight: int
    filled: float
    """Share of the slots in work from the first request until the last one was sent."""


def lines(number: int) -> list[str]:
    """Lines of a page; none is like another, so that no client takes them for a loop."""
    many = len(_WORDS)
    return [
        f"{number}.{line} " + " ".join(_WORDS[(number + line * 7 + word * 5) % many] for word in range(14))
        for line in range(_LINES)
    ]


def answer(asked: Asked, seconds: float) -> Said:
    """The page's lines as HTML with boxes, with a front matter, or plain."""
    told = lines(asked.number)
    if "data-bbox" in asked.prompt:
        text = "".join(
            f'<div data-bbox="80 {20 + 38 * n} 920 {50 + 38 * n}" data-label="Text"><p>{line}</p></div>'
            for n, line in enumerate(told)
        )
    else:
        text = "\n\n".join(told)
    if "front matter" in asked.prompt:
        text = _FRONT + text
    return Said(text, tokens=TOKENS, seconds=seconds)


def asking(entries: Sequence[Entry], slots: int) -> Asking:
    """Figures of some requests; those that were never answered count as in work until the last answer."""
    done = [entry for entry in entries if entry.ended and entry.seated]
    if not done:
        return Asking(len(entries), 0, 0.0)
    edges = sorted([(entry.seated, 1) for entry in done] + [(entry.ended, -1) for entry in done])
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    seats = [Seat(entry.started, entry.seated, entry.ended) for entry in done]
    return Asking(len(entries), most, round(filled(seats, slots), 3))


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers.server", description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=2.0, help="what each answer takes")
    wish = parser.parse_args()
    script = partial(answer, seconds=wish.seconds)
    # Room for every client's wishes: no picture is counted, no reply is cut.
    model = Model(name=MODEL, root="datalab-to/chandra-ocr-2", context=65_536)
    with ScriptedVllm(script, model=model, slots=wish.slots, port=wish.port) as server:
        print(server.url, flush=True)
        seen = 0
        for _ in sys.stdin:
            entries = server.entries
            print(json.dumps(asdict(asking(entries[seen:], wish.slots))), flush=True)
            seen = len(entries)


if __name__ == "__main__":
    main()
