"""Which optional flags were seen to work on this machine, and which not: each is tried once.

Kept as JSON in PAGEMILL_HOME/serve/tested.json, by profile, option, versions and GPU.
"""

import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from tasks.work.serving.plan import Plan


class OptionOutcome(BaseModel):
    """How one set of options did."""

    model_config = ConfigDict(frozen=True)

    profile: str
    options: tuple[str, ...]
    vllm: str
    model: str
    gpu: str
    works: bool
    said: str
    """Why not, or how long the proof took."""
    at: dt.datetime


_ROWS = TypeAdapter(dict[str, OptionOutcome])


@dataclass(frozen=True, slots=True)
class OptionRecord:
    """The record in a file."""

    path: Path

    def of(self, plan: Plan, gpu: str) -> OptionOutcome | None:
        """What is known of this plan's options on GPU `gpu` (its name; empty: CPU)."""
        return self._read().get(_key(plan, gpu))

    def keep(self, plan: Plan, gpu: str, *, works: bool, said: str) -> None:
        """Write down how the plan's options did."""
        rows = self._read()
        rows[_key(plan, gpu)] = OptionOutcome(
            profile=plan.profile.name,
            options=plan.options,
            vllm=plan.installation.vllm,
            model=plan.model,
            gpu=gpu,
            works=works,
            said=said,
            at=dt.datetime.now(dt.UTC),
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_bytes(_ROWS.dump_json(rows, indent=1))
        part.replace(self.path)

    def _read(self) -> dict[str, OptionOutcome]:
        return _ROWS.validate_json(self.path.read_bytes()) if self.path.exists() else {}


def _key(plan: Plan, gpu: str) -> str:
    what = [plan.profile.name, plan.profile.revision, sorted(plan.options), plan.model]
    made = [plan.installation.vllm, plan.installation.transformers, gpu]
    return hashlib.sha256(json.dumps([what, made]).encode()).hexdigest()[:16]
