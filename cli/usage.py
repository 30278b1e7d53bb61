"""Help as manuals have it: arguments as they are typed, and no types of Python."""

import re
from typing import Any

import typer
from typer.core import TyperCommand

_TYPES = {
    "<int range>": "N",
    "<float range>": "N",
    "<str>": "TEXT",
    "<file>": "FILE",
    "<path>": "PATH",
}


class Command(TyperCommand):
    """A command whose arguments are shown by their metavars alone: `[DOC]`, `PATH...`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands behind the command's name."""
        return [
            "[OPTIONS]",
            *(_name(one) for one in self.get_params(ctx) if one.param_type_name == "argument"),
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The sections of arguments and options."""
        sections: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for one in self.get_params(ctx):
            record: tuple[str, str] | None = one.get_help_record(ctx)
            if record:
                sections[one.param_type_name].append(_record(one, *record))
        for kind, records in sections.items():
            if records:
                with formatter.section(f"{kind.title()}s"):
                    formatter.write_dl(records)


def use_everywhere(app: typer.Typer) -> None:
    """Have each command of `app` and of its groups show its help so."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance:
            use_everywhere(group.typer_instance)


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _record(one: Any, name: str, about: str) -> tuple[str, str]:
    """A line of help: what is typed, and what it does."""
    if one.param_type_name == "argument":
        return _name(one), str(one.help)
    return re.sub("<[a-z ]+>", lambda found: _TYPES.get(found.group(), found.group()), name), about
