"""pagemill review: what a person should look at, and what a person decided."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.options import Here, Jobs, Json, Recipe

Pages = Annotated[
    list[str],
    typer.Argument(metavar="PAGE...", help="Pages as DOC:PAGE, e.g. 12:3 for page 3 of document 12."),
]
Page = Annotated[str, typer.Argument(metavar="PAGE", help="A page as DOC:PAGE, e.g. 12:3.")]
Person = Annotated[str, typer.Option("--person", metavar="NAME", help="Who decides; default: user@host.")]
Note = Annotated[str, typer.Option("--note", help="Why, for those who come later.")]


class ListsByDefault(TyperGroup):
    """`pagemill review --limit 5` means `pagemill review list --limit 5`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `list` in front of what is no command."""
        is_named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["list", *args])


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(
        cls=ListsByDefault,
        rich_markup_mode=None,
        help="Look at doubtful pages, and decide. Without a command: list.",
    )
    group.command("list")(show)
    for command in (accept, retry, edit, ignore):
        group.command()(command)
    app.add_typer(group, name="review")


def show(
    documents: Annotated[
        list[str] | None,
        typer.Option("--doc", metavar="DOC", help="Of this document: id, SHA-256 or path; repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most pages, or decisions.")] = 50,
    history: Annotated[bool, typer.Option("--history", help="What was decided, the last first.")] = False,
    as_json: Json = False,
) -> None:
    """List pages that wait for a person, the worst first.

    Suspect and bad ones, and blank ones of damaged files, until somebody decides about them.
    """
    from cli.environment import enter

    settings = enter()
    from cli import reviewing

    if history:
        reviewing.show_history(settings, documents or (), limit, as_json=as_json)
    else:
        reviewing.show_waiting(settings, documents or (), limit, as_json=as_json)


def accept(pages: Pages, note: Note = "", person: Person = "", as_json: Json = False) -> None:
    """Say that what was read is right.

    The pages are good from then on, and their text can be found, also that of bad ones.
    """
    _decide("accept", pages, note, person, as_json=as_json)


def ignore(pages: Pages, note: Note = "", person: Person = "", as_json: Json = False) -> None:
    """Leave pages as they are, off the list."""
    _decide("ignore", pages, note, person, as_json=as_json)


def edit(
    page: Page,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="The page's text, UTF-8; *.md as Markdown."
        ),
    ],
    note: Note = "",
    person: Person = "",
    as_json: Json = False,
) -> None:
    """Write the text of a page.

    It is shown and found instead of what was read, whatever is read of the page later.
    """
    from cli.environment import enter

    settings = enter()
    from cli import deciding

    deciding.edit(settings, page, file, deciding.decision("edit", person, note), as_json=as_json)


def retry(
    pages: Pages,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="PROFILE", help="OCR model; default: the one that read the page."),
    ] = None,
    recipe: Recipe = None,
    over_edit: Annotated[
        bool, typer.Option("--over-edit", help="Also in place of what a person wrote.")
    ] = False,
    here: Here = False,
    jobs: Jobs = None,
    note: Note = "",
    person: Person = "",
    as_json: Json = False,
) -> None:
    """Read pages again, and no others.

    What comes of it is shown unless what is shown is better.
    """
    from cli.environment import enter

    settings = enter()
    from cli import deciding

    how = {"profile": profile, "options": recipe or (), "over_edit": over_edit, "here": here, "jobs": jobs}
    decision = deciding.decision("retry", person, note)
    raise typer.Exit(deciding.retry(settings, pages, decision, how, as_json=as_json))


def _decide(action: str, pages: list[str], note: str, person: str, *, as_json: bool) -> None:
    from cli.environment import enter

    settings = enter()
    from cli import deciding

    deciding.decide(settings, pages, deciding.decision(action, person, note), as_json=as_json)
