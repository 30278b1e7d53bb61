"""pagemill backfill: run, list, cancel, compare, promote, rollback."""

import datetime as dt
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.choices import Act
from cli.options import Here, Jobs, Json, Recipe
from models.document import DocumentStatus

_DAY = ["%Y-%m-%d"]

Docs = Annotated[
    list[str] | None,
    typer.Option("--doc", metavar="DOC", help="A document: id, SHA-256 or path; repeatable."),
]
Source = Annotated[
    str, typer.Option("--source", metavar="PATTERN", help="Path, folder or pattern with * and ? of names.")
]
Status = Annotated[
    list[DocumentStatus] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help=f"Only documents that stand so ({', '.join(DocumentStatus)}); repeatable.",
    ),
]
Verdicts = Annotated[
    list[str] | None,
    typer.Option(
        "--verdict", metavar="VERDICT", help="Only documents that show a page with this verdict; repeatable."
    ),
]
Findings = Annotated[
    list[str] | None,
    typer.Option("--finding", metavar="CODE", help="Only documents with this finding or error; repeatable."),
]
OfProfile = Annotated[
    str, typer.Option("--of-profile", metavar="PROFILE", help="Only documents that show what it read.")
]
OfRecipe = Annotated[
    str, typer.Option("--of-recipe", metavar="HASH", help="As --of-profile, by a recipe's first digits.")
]
Since = Annotated[
    dt.datetime | None,
    typer.Option("--since", metavar="YYYY-MM-DD", formats=_DAY, help="First seen on this day or later."),
]
Until = Annotated[
    dt.datetime | None,
    typer.Option("--until", metavar="YYYY-MM-DD", formats=_DAY, help="First seen on this day or earlier."),
]
Everything = Annotated[bool, typer.Option("--all", help="All documents are meant.")]
Number = Annotated[
    int | None, typer.Argument(metavar="[BACKFILL]", min=1, help="Number of a backfill; default: the last.")
]


_ACTS: dict[Act, str] = {
    "compare": "Say what a backfill changed, document by document.",
    "promote": "Show what a backfill made, each document in one transaction.",
    "rollback": "Show again what stood there before a backfill was promoted.",
}


class RunsByDefault(TyperGroup):
    """`pagemill backfill --status failed` means `pagemill backfill run --status failed`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front of what is no command."""
        is_named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["run", *args])


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(
        cls=RunsByDefault, rich_markup_mode=None, help="Read known documents again. Without a command: run."
    )
    group.command()(run)
    group.command("list")(show)
    group.command()(cancel)
    for act, told in _ACTS.items():
        group.command(act, help=told)(_on_one(act))
    app.add_typer(group, name="backfill")


def run(
    documents: Docs = None,
    source: Source = "",
    status: Status = None,
    verdict: Verdicts = None,
    finding: Findings = None,
    of_profile: OfProfile = "",
    of_recipe: OfRecipe = "",
    since: Since = None,
    until: Until = None,
    everything: Everything = False,
    start: Annotated[str, typer.Option("--from", metavar="STAGE", help="First stage done again.")] = "ocr",
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="PROFILE", help="OCR model to read with.")
    ] = None,
    recipe: Recipe = None,
    again: Annotated[bool, typer.Option("--again", help="Also pages well read under this recipe.")] = False,
    shows: Annotated[bool, typer.Option("--promote", help="Show what comes of it at once.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run/--go", help="Only count, or do it.")] = True,
    here: Here = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Read known documents again, behind all scheduled work.

    Counts only, unless --go is given. What was read before goes on being shown until 'promote'.
    """
    asked = {"source": source, "profile": of_profile, "recipe": of_recipe, "everything": everything}
    lists = {"statuses": status, "verdicts": verdict, "findings": finding, "documents": documents}
    how = {"start": start, "options": recipe, "again": again, "promote": shows}
    go = {"here": here, "jobs": jobs, "as_json": as_json}
    _run(asked | lists | {"since": since, "until": until}, {"profile": profile} | how, go, dry_run=dry_run)


def show(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most backfills.")] = 20,
    as_json: Json = False,
) -> None:
    """List backfills, the newest first: how far they are and what they cost so far."""
    from cli.environment import enter

    settings = enter()
    from cli import backfills

    backfills.show_backfills(settings, limit, as_json=as_json)


def cancel(backfill: Number = None, as_json: Json = False) -> None:
    """End a backfill for good.

    Nothing more of it is read. What it has read to its end stays beside what is shown.
    """
    from cli.environment import enter

    settings = enter()
    from cli import backfills

    backfills.cancel(settings, backfill, as_json=as_json)


def _on_one(act: Act) -> Callable[..., None]:
    """A command about what one backfill made of its documents, or of some of them."""

    def command(
        backfill: Number = None,
        documents: Docs = None,
        source: Source = "",
        status: Status = None,
        as_json: Json = False,
    ) -> None:
        from cli.environment import enter

        settings = enter()
        from cli import backfilling

        narrowed = {"documents": documents, "source": source, "statuses": status}
        selection = backfilling.selection_of(settings, narrowed)
        backfilling.act_on(act, settings, backfill, selection, as_json=as_json)

    return command


def _run(selected: dict[str, Any], how: dict[str, Any], go: dict[str, Any], *, dry_run: bool) -> None:
    from cli.environment import enter

    settings = enter()
    from cli import backfilling

    wish = backfilling.wish_of(settings, selected, how)
    if dry_run:
        backfilling.show_plan(settings, wish, as_json=go["as_json"])
        return
    from cli.rereading import run_and_report

    raise typer.Exit(run_and_report(settings, wish, **go))
