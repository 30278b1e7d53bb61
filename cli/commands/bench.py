"""pagemill bench: measurements that anyone can run on their own machine, server and documents."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

_BENCHES = {
    "sweep": "Requests in flight against speed.",
    "pipeline": "The whole pipeline against ready-made requests.",
    "ablation": "What each step of a published tuning brings.",
    "resolution": "Pixels, seconds and errors by mode of resolution.",
    "pages": "CPU of pages made, beside pypdfium2 and pdftoppm.",
    "clients": "CPU, slots and memory, beside other clients.",
    "report": "Results as one HTML file with plots.",
}

# All but the name is the benchmark's own: it has one set of options, however it is called.
_SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

_Words = Annotated[
    list[str] | None, typer.Argument(metavar="ARGUMENTS...", help="See --help of each benchmark.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Measure, on your own machine.")
    for name, about in _BENCHES.items():
        group.command(name, help=about, context_settings=_SETTINGS)(_running(name))
    app.add_typer(group, name="bench")


def _running(name: str) -> Callable[[list[str] | None], None]:
    def run(words: _Words = None) -> None:
        from importlib import import_module

        module: Any = import_module(f"bench.{name}")
        # A result says how it was made by what was typed.
        sys.argv = [f"pagemill bench {name}", *(words or [])]
        raise typer.Exit(module.main() or 0)

    return run
