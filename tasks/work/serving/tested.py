"""Which optional flags were seen to work on this machine, and which not: each is tried once.

Kept as JSON in PAGEMILL_HOME/serve/tested.json, by profile, option, versions and GPU. `pagemill serve` tries
options of the profile; `pagemill tune` tries other flags too and writes down here how they did.
"""

import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from models.errors import EnvironmentFault
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
    flags: tuple[str, ...] = ()
    """Further flags that were tried with the options."""


_ROWS = TypeAdapter(dict[str, OptionOutcome])


@dataclass(frozen=True, slots=True)
class OptionRecord:
    """The record in a file."""

    path: Path

    def of(self, plan: Plan, gpu: str, flags: tuple[str, ...] = ()) -> OptionOutcome | None:
        """What is known of this plan's options, with `flags` if any, on GPU `gpu` (its name; empty: CPU).

        Raises EnvironmentFault when the file is spoilt.
        """
        return self._read().get(_key(plan, gpu, flags))

    def keep(self, plan: Plan, gpu: str, *, works: bool, said: str, flags: tuple[str, ...] = ()) -> None:
        """Write down how the plan's options did, with `flags` if any. Raises as `of`."""
        rows = self._read()
        rows[_key(plan, gpu, flags)] = OptionOutcome(
            profile=plan.profile.name,
            options=plan.options,
            vllm=plan.installation.vllm,
            model=plan.model,
            gpu=gpu,
            works=works,
            said=said,
            at=dt.datetime.now(dt.UTC),
            flags=flags,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_bytes(_ROWS.dump_json(rows, indent=1))
        part.replace(self.path)

    def _read(self) -> dict[str, OptionOutcome]:
        if not self.path.exists():
            return {}
        try:
            return _ROWS.validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise EnvironmentFault(
                f"{self.path} is spoilt: what was tried on this machine cannot be read. Delete the file; "
                "options are tried anew."
            ) from error


def _key(plan: Plan, gpu: str, flags: tuple[str, ...]) -> str:
    what = [plan.profile.name, plan.profile.revision, sorted(plan.options), plan.model]
    made = [plan.installation.vllm, plan.installation.transformers, gpu]
    more = [list(flags)] if flags else []
    return hashlib.sha256(json.dumps([what, made, *more]).encode()).hexdigest()[:16]
