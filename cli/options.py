"""Arguments and options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

Recipe = Annotated[
    list[str] | None, typer.Option("--recipe", metavar="KEY=VALUE", help="Recipe option; repeatable.")
]
Here = Annotated[bool, typer.Option("--here", help="Work in this process, not in the drains.")]

AcceptLicence = Annotated[
    bool, typer.Option("--accept-licence", help="Agree to the terms of the profile's weights.")
]

Doc = Annotated[
    str,
    typer.Argument(
        metavar="DOC", help="A document: id, first characters of its SHA-256 (6 or more), or path."
    ),
]
MaybeDoc = Annotated[
    str | None,
    typer.Argument(
        metavar="[DOC]", help="A document: id, first characters of its SHA-256 (6 or more), or path."
    ),
]

Jobs = Annotated[
    int | None,
    # More processes than any machine has cores for are a slip of the finger that takes all its memory.
    typer.Option("--jobs", "-j", min=1, max=1024, help="Worker processes; default: cores."),
]
