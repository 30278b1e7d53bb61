"""What a tuning measured, kept row by row: a JSON file, and the evidence for the winner's profile."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from models.profile import Profile
from tasks.work.tuning.override import write
from tasks.work.tuning.row import Row

Fact = str | int | float | None


@dataclass(slots=True)
class Journal:
    """The file PROFILE-DATE.json of one tuning; written anew with each row."""

    path: Path
    profile: Profile
    facts: Mapping[str, Fact]
    """Machine, versions, documents: what the rows hold for."""
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def begun(cls, folder: Path, profile: Profile, facts: Mapping[str, Fact]) -> "Journal":
        """A journal of its own in `folder`, named after the moment that the facts tell."""
        moment = str(facts["begun"])[:19].replace(":", "").replace("-", "")
        return cls(folder / f"{profile.name}-{moment}.json", profile, facts)

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows.append(row)
        told = {"facts": dict(self.facts), "rows": [one.model_dump(mode="json") for one in self.rows]}
        write(self.path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def evidence(journal: Journal, untuned: Row, winner: Row) -> list[str]:
    """Lines for a person who finds the profile later: when, where, on what, and how much it brought."""
    facts, gain = journal.facts, winner.pages_per_s / untuned.pages_per_s
    flags = f", always with {facts['flags']}" if facts["flags"] else ""
    width = f"{winner.in_flight} in flight" if winner.in_flight else "in flight as the client steers it"
    found = f"{shlex.join(winner.flags) or winner.what}; resolution {winner.resolution}, {width}"
    speeds = f"{untuned.pages_per_s:.3f} pages/s untuned, {winner.pages_per_s:.3f} so ({gain:.2f} times)"
    return [
        f"{facts['begun']}; GPU: {facts['gpu']}.",
        f"vLLM {facts['vllm']}, transformers {facts['transformers']}{flags}.",
        f"{facts['pages']} pages of {facts['documents']} documents; {len(journal.rows)} tries.",
        f"{speeds}; {winner.distance:.2%} of the characters differ.",
        f"Won: {found}.",
        f"All tries: {journal.path}",
    ]
