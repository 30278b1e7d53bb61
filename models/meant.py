"""What somebody probably meant who wrote a word that there is not."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(word: str, known: Iterable[str]) -> str:
    """The nearest known word as a question, with a space before it; empty where none is near."""
    near = get_close_matches(word, sorted(known), n=1)
    return f" Did you mean '{near[0]}'?" if near else ""
