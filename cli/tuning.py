"""`pagemill tune`: search, show what was measured, and write the winner as a profile."""

import datetime as dt
import os
import signal
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.table import Table

from cli.exits import Exit
from cli.output import console, table
from cli.serving import Wish, plan_of
from cli.words import plural
from models.errors import ConfigurationError, EngineUnavailable, EnvironmentFault
from models.profiles import PROFILES
from models.settings import Settings
from tasks.work import custom
from tasks.work.serving import gpus, vllm
from tasks.work.serving.plan import Plan
from tasks.work.serving.supervisor import Patience
from tasks.work.serving.tested import OptionRecord
from tasks.work.tuning import override
from tasks.work.tuning.choices import Choice, choices
from tasks.work.tuning.journal import Journal, evidence
from tasks.work.tuning.pages import OwnPages
from tasks.work.tuning.row import Row, State
from tasks.work.tuning.search import CLIENT, UNTUNED, Search, untuned_of
from tasks.work.tuning.stand import Stand

_NUMBERS = frozenset({"in flight", "pages/s", "times", "different", "failed", "start s"})
_IN_THE_FILE = frozenset({"resolution", "failed", "start s"})
_WIDTH_FOR_ALL = 124
"""Columns of a terminal; in a narrower one these stand in the file alone."""


@dataclass(frozen=True, slots=True)
class TuneWish:
    """What was asked for on the command line."""

    profile: str
    documents: tuple[Path, ...]
    budget_s: float
    pages: int = 512
    most_different: float = 0.01
    model: str | None = None
    gpu: str = ""
    port: int = 8100
    jobs: int = 2
    only: frozenset[str] = frozenset()
    """Names of what to try, flags or the client's settings; empty: all there is."""
    out: Path | None = None
    extra: tuple[str, ...] = ()
    is_accepted: bool = False


def tune_and_show(settings: Settings, wish: TuneWish) -> Exit:
    """Tune until all is tried or the time is over, then write the winner.

    Raises ConfigurationError, EnvironmentFault as `pagemill serve` does; EngineUnavailable when the untuned
    server does not read. What was measured is kept whatever happens; a profile is only written at the end.
    """
    plan = _plan(settings, wish)
    out = _target(settings, plan, wish)
    tried = _tried(plan, wish.only)
    gpu = next((one.name for one in gpus.list_gpus() if one.index in plan.gpus), "") if plan.gpus else ""
    with tempfile.TemporaryDirectory(prefix="pagemill-tune-") as folder:
        own = OwnPages(plan.profile, Path(folder), wish.jobs)
        own.gather(wish.documents, wish.pages)
        journal = Journal.begun(settings.root / "tune", plan.profile, _facts(plan, gpu, own, wish))
        stand = Stand(
            plan, own, OptionRecord(settings.root / "serve" / "tested.json"), gpu,
            settings.root / "logs" / f"tune-{journal.path.stem}", Patience(), _tell,
        )  # fmt: skip
        search = Search(
            stand, tried, wish.budget_s, wish.most_different, lambda row: _kept(journal, row),
            client=CLIENT & wish.only if wish.only else CLIENT,
        )  # fmt: skip
        winner = _searched(search, journal)
    if winner is None:
        return Exit.INTERRUPTED
    _conclude(search, journal, winner, out, _source(settings, plan))
    return Exit.OK


def _searched(search: Search, journal: Journal) -> Row | None:
    """The best row; None when somebody interrupted the search."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return search.run()
    except KeyboardInterrupt:
        _show(search.rows)
        _tell(f"Interrupted. {_left_by(journal)}")
    except (EngineUnavailable, EnvironmentFault) as error:
        _show(search.rows)
        raise type(error)(f"{error.message} {_left_by(journal)}", error.code) from error
    return None


def _left_by(journal: Journal) -> str:
    kept = f"What was measured is in {journal.path}" if journal.rows else "Nothing was measured"
    return f"{kept}; no profile was written."


def _conclude(search: Search, journal: Journal, winner: Row, out: Path, source: Path | None) -> None:
    _show(search.rows)
    untuned = untuned_of(search.rows)
    untried = sum(row.state is State.NO_TIME for row in search.rows)
    if untried:
        typer.echo(f"The time was over before {plural(untried, 'setting')} could be tried: see --budget.")
    if winner.what.startswith(UNTUNED):
        typer.echo(
            f"Nothing was faster than the profile as it is. No profile was written; see {journal.path}."
        )
        return
    text = override.override(journal.profile, source, winner, evidence(journal, untuned, winner))
    override.write(out, text)
    custom.load_profile(out)
    gain = winner.pages_per_s / untuned.pages_per_s
    typer.echo(
        f"{gain:.2f} times as fast as untuned: {_settings_of(winner)}.\n"
        f"Written to {out}: 'pagemill serve {out.stem}', 'pagemill ingest FOLDER --profile {out.stem}'.\n"
        f"All that was measured is in {journal.path}."
    )


def _plan(settings: Settings, wish: TuneWish) -> Plan:
    gpu = wish.gpu
    if not gpu and vllm.find(settings.vllm_python).is_cpu_build:
        gpu = "none"
    asked = Wish(
        profile=wish.profile, model=wish.model, gpus=gpu, port=wish.port, extra=wish.extra,
        is_accepted=wish.is_accepted,
    )  # fmt: skip
    plan = plan_of(settings, asked)
    return replace(plan, gpus=plan.gpus[:1])


def _tried(plan: Plan, only: frozenset[str]) -> tuple[Choice, ...]:
    """The flags to try. Raises ConfigurationError for a name that is none of them nor of the client's."""
    found = choices(plan.profile, is_on_gpu=bool(plan.gpus), cores=os.cpu_count() or 1)
    known = {choice.factor for choice in found} | CLIENT
    if unknown := sorted(only - known):
        raise ConfigurationError(f"--only {unknown[0]}: not tried here. Known: {', '.join(sorted(known))}.")
    return tuple(choice for choice in found if not only or choice.factor in only)


def _target(settings: Settings, plan: Plan, wish: TuneWish) -> Path:
    """Where the winner will be written. Raises ConfigurationError when it must not be."""
    default = settings.root / "profiles" / f"{plan.profile.name.removesuffix('-tuned')}-tuned.toml"
    out = wish.out.expanduser() if wish.out else default
    if out.suffix != custom.SUFFIX or out.stem in PROFILES:
        raise ConfigurationError(
            f"--out {out}: the file has to end with {custom.SUFFIX} and to have no embedded profile's name."
        )
    override.check_free(out)
    return out


def _source(settings: Settings, plan: Plan) -> Path | None:
    name = plan.profile.name
    return None if name in PROFILES else custom.file_of(name, settings)


def _facts(plan: Plan, gpu: str, own: OwnPages, wish: TuneWish) -> dict[str, str | int | float | None]:
    return {
        "profile": plan.profile.name,
        "model": plan.model,
        "gpu": gpu or "none (CPU)",
        **plan.installation.facts(),
        "documents": own.documents,
        "pages": len(own.pages),
        "left_out": len(own.faults),
        "budget_min": round(wish.budget_s / 60, 1),
        "most_different": wish.most_different,
        "flags": " ".join(plan.extra),
        "begun": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }


def _kept(journal: Journal, row: Row) -> None:
    journal.add(row)
    speed = f"{row.speed} pages/s" if row.pages else ""
    _tell(f"{row.what}: {', '.join(filter(None, (row.state.value, speed, row.said)))}")


def _show(rows: list[Row]) -> None:
    """A table, and below it why what was not measured was not: reasons are too long for a column."""
    if rows:
        out = console()
        out.print(_table(rows, out.width))
        for row in rows:
            if row.said and row.state is not State.MEASURED:
                out.print(f"{row.what}: {row.state.value}, {row.said}", soft_wrap=True)


def _table(rows: list[Row], width: int) -> Table:
    untuned = untuned_of(rows).pages_per_s
    cells = [_cells(row, untuned) for row in rows]
    names = [name for name in cells[0] if width >= _WIDTH_FOR_ALL or name not in _IN_THE_FILE]
    made = table(*names, numbers=_NUMBERS)
    for row in cells:
        made.add_row(*(row[name] for name in names))
    return made


def _cells(row: Row, untuned: float) -> dict[str, str]:
    is_read = bool(row.pages)
    return {
        "what": row.what,
        "resolution": row.resolution,
        "in flight": str(row.in_flight) if row.in_flight else ("steered" if is_read else ""),
        "pages/s": row.speed if is_read else "",
        "times": f"{row.bound}{row.pages_per_s / untuned:.2f}" if is_read and untuned else "",
        "different": f"{row.distance:.2%}" if is_read else "",
        "failed": str(row.failed) if is_read else "",
        "start s": f"{row.start_s:.0f}" if row.start_s else "",
        "state": row.state.value,
    }


def _settings_of(row: Row) -> str:
    parts = [" ".join(row.flags), f"resolution {row.resolution}"]
    parts.append(f"{row.in_flight} in flight" if row.in_flight else "")
    return ", ".join(filter(None, parts))


def _tell(said: str) -> None:
    typer.echo(said, err=True)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
