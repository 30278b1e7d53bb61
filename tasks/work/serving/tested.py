"""Which optional flags were seen to work on this machine, and which not: each is tried once.

Kept as JSON in PAGEMILL_HOME/serve/tested.json, by profile, option, versions and GPU. `pagemill serve` tries
options of the profile; `pagemill tune` tries other flags too and writes down here how they did.
"""

import datetime as dt
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from tasks.work.serving.plan import Plan
from tasks.work.serving.record import Record, key_of


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


class OptionRecord:
    """The record in a file. Raises EnvironmentFault when it is spoilt."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._record = Record(
            path,
            _ROWS,
            "what was tried on this machine cannot be read. Delete the file; options are tried anew.",
        )

    def of(self, plan: Plan, gpu: str, flags: tuple[str, ...] = ()) -> OptionOutcome | None:
        """What is known of this plan's options, with `flags` if any, on GPU `gpu` (its name; empty: CPU)."""
        return self._record.get(_key(plan, gpu, flags))

    def keep(self, plan: Plan, gpu: str, *, works: bool, said: str, flags: tuple[str, ...] = ()) -> None:
        """Write down how the plan's options did, with `flags` if any."""
        outcome = OptionOutcome(
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
        self._record.put(_key(plan, gpu, flags), outcome)


def _key(plan: Plan, gpu: str, flags: tuple[str, ...]) -> str:
    what = [plan.profile.name, plan.profile.revision, sorted(plan.options), plan.model]
    made = [plan.installation.vllm, plan.installation.transformers, gpu]
    more = [list(flags)] if flags else []
    return key_of(what, made, *more)
