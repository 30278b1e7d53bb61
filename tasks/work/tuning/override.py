"""The winner as a profile's file, which `--profile` and `pagemill serve` read, with the evidence in it."""

import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.errors import ConfigurationError
from models.profile import Profile
from models.profiles import PROFILES
from models.vlm import ServeFlag
from tasks.work.custom import merged
from tasks.work.serving.plan import without
from tasks.work.tuning.row import Row
from tasks.work.tuning.toml import dump

HEAD = "# Written by 'pagemill tune'"


def check_free(path: Path) -> None:
    """Raises ConfigurationError when `path` holds what was not written by a tuning."""
    if path.exists() and not path.read_text("utf-8", "replace").startswith(HEAD):
        raise ConfigurationError(
            f"{path} was not written by 'pagemill tune', so it stays as it is. Name another file with --out."
        )


def override(profile: Profile, source: Path | None, winner: Row, evidence: Sequence[str]) -> str:
    """The file's text: what `winner` says over `profile`, whose own file is `source` unless it is embedded.

    `evidence`: lines that say where and how it was measured; they stand above as remarks.
    """
    assert profile.vlm is not None
    vlm: dict[str, Any] = {}
    if winner.flags:
        vlm["flags"] = [flag.model_dump() for flag in _flags(profile.vlm.flags, winner)]
    if winner.in_flight:
        vlm |= {"most_in_flight": winner.in_flight}
        vlm |= {"least_in_flight": min(profile.vlm.least_in_flight, winner.in_flight)}
    changes: dict[str, Any] = {"vlm": vlm} if vlm else {}
    if winner.resolution != profile.resolution:
        changes["resolution"] = winner.resolution
    remarks = "\n".join(f"# {line}" for line in evidence)
    return f"{HEAD}.\n{remarks}\n{dump(merged(_below(profile, source), changes))}"


def write(path: Path, text: str) -> None:
    """Put a file there at once, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _below(profile: Profile, source: Path | None) -> dict[str, Any]:
    if source is not None:
        # A profile of one's own keeps its served name though the file has another.
        assert profile.vlm is not None
        own = {"title": profile.title, "vlm": {"served_name": profile.vlm.served_name}}
        return merged(own, tomllib.loads(source.read_text("utf-8")))
    assert profile.name in PROFILES
    return {"base": profile.name}


def _flags(flags: Sequence[ServeFlag], winner: Row) -> list[ServeFlag]:
    """The profile's flags without those that the winner sets anew, then the winner's."""
    kept = []
    for flag in flags:
        if flag.state != "on":
            kept.append(flag)
        elif words := without(shlex.split(flag.flag), winner.flags):
            kept.append(flag.model_copy(update={"flag": shlex.join(words)}))
    told = f"Measured by 'pagemill tune': {winner.pages_per_s:.3f} pages/s."
    return [*kept, ServeFlag(flag=shlex.join(winner.flags), state="on", about=told)]
