"""Documents in two halves: one to choose thresholds by, one to measure them on."""

from collections.abc import Mapping, Sequence

from bench.knownpages import Known
from tasks.work.metrics import normalise

CHOSEN, HELD = "chosen by", "held back"
"""Thresholds of checks are chosen by the first half; the second half is for measuring alone."""


def halves(pages: Sequence[Known]) -> dict[str, list[Known]]:
    """Pages by half. A document is in one half, and so are all that share a page with it.

    Documents go by name to the half that has fewer pages so far: a new one moves no other across unless it
    stands before it by name.
    """
    families = _families(pages)
    found: dict[str, list[Known]] = {CHOSEN: [], HELD: []}
    for family in sorted(set(families.values())):
        half = min(found, key=lambda name: len(found[name]))
        found[half] += [page for page in pages if families[page.file] == family]
    return found


def _families(pages: Sequence[Known]) -> Mapping[str, str]:
    """For each file the first one, by name, that it shares a page with, itself or by way of others."""
    first = {page.file: page.file for page in pages}
    by_text: dict[str, set[str]] = {}
    for page in pages:
        by_text.setdefault(normalise(page.truth), set()).add(page.file)
    for shared in by_text.values():
        heads = {first[file] for file in shared}
        first = {file: min(heads) if head in heads else head for file, head in first.items()}
    return first
