"""pagemill ask."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AcceptLicence, Json

Name = Annotated[str, typer.Argument(metavar="PROFILE", help="Model to ask, see 'pagemill profiles'.")]
Words = Annotated[
    list[str],
    typer.Argument(metavar='IMAGE... ["QUESTION"]', help="Pictures or PDFs, then the question."),
]
Task = Annotated[
    str,
    typer.Option(
        "--task", metavar="TASK", help="A task of the profile, e.g. shelf; needs no question of yours."
    ),
]
Schema = Annotated[
    Path | None,
    typer.Option("--schema", exists=True, dir_okay=False, help="JSON schema that the answer keeps to."),
]
Page = Annotated[int, typer.Option("--page", min=1, help="Page of PDFs and pictures with several.")]
Save = Annotated[bool, typer.Option("--save", help="Keep the answer as a reading of the first picture.")]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(ask)


def ask(
    profile: Name,
    words: Words,
    task: Task = "",
    schema: Schema = None,
    page: Page = 1,
    save: Save = False,
    accept_licence: AcceptLicence = False,
    as_json: Json = False,
) -> None:
    """Ask a served model about pictures.

    The answer comes as it is written. Several pictures are compared.
    """
    from cli.environment import enter

    settings = enter()
    from cli.asking import Question, ask_and_show, split_words

    pictures, question = split_words(words)
    wish = Question(
        profile, pictures, question, task, schema, page, is_saved=save, is_accepted=accept_licence
    )
    raise typer.Exit(ask_and_show(settings, wish, as_json=as_json))
