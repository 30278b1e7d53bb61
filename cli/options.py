"""Arguments and options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

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
