"""pagemill maintain: what keeping house came to."""

from rich.console import Console

from cli.exits import Exit
from cli.output import console, print_json, table
from cli.words import duration, plural
from flows.upkeep import run_maintenance
from models.invariant import Upkeep
from models.settings import Settings

_MEGABYTE = 1_000_000


def maintain(settings: Settings, *, images_days: float, results_days: float, as_json: bool) -> Exit:
    """One round; 3 where the ledger contradicts itself."""
    done = run_maintenance(settings, images_days=images_days, results_days=results_days)
    if as_json:
        print_json(done)
    else:
        print_upkeep(console(), done)
    return Exit.INCOMPLETE if done.violations else Exit.OK


def print_upkeep(out: Console, done: Upkeep) -> None:
    """What was freed and purged, then what is broken."""
    purged = f"{plural(done.images, 'page image')} ({done.image_bytes / _MEGABYTE:,.1f} MB)"
    out.print(
        f"{plural(done.leases, 'lease')} freed; {purged} and {plural(done.results, 'kept result')} purged "
        f"in {duration(done.seconds)}."
    )
    if not done.violations:
        out.print("The ledger holds together.")
        return
    shown = table("broken", "times", "what should hold", "for example", numbers=frozenset({"times"}))
    for found in done.violations:
        shown.add_row(found.invariant, f"{found.count:,}", found.about, ", ".join(found.examples))
    out.print(shown)
