"""pagemill tune."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AcceptLicence

Name = Annotated[str, typer.Argument(metavar="PROFILE", help="OCR model, see 'pagemill profiles'.")]
Extra = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- FLAG...]", help="More flags for every server, after '--'."),
]
Docs = Annotated[
    list[Path], typer.Option("--docs", metavar="DIR", help="Documents like those to be read; repeatable.")
]
Budget = Annotated[float, typer.Option("--budget", metavar="MIN", min=0.1, help="Minutes it may take.")]
Pages = Annotated[int, typer.Option("--pages", min=2, help="Pages read in each measurement, at most.")]
Different = Annotated[
    float,
    typer.Option(
        "--different", min=0.0, max=1.0, help="Share of characters that may differ from untuned answers."
    ),
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="PATH", help="Folder with the weights, or another name.")
]
Gpu = Annotated[str, typer.Option("--gpu", metavar="N", help="GPU; default: the first; 'none': the CPU.")]
Port = Annotated[int, typer.Option("--port", min=1, max=65_000, help="Port of the servers that are tried.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=1024, help="Processes that prepare pages.")]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Try only this: a flag, e.g. max-num-seqs, resolution or in-flight; repeatable.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Profile to write; default: PROFILE-tuned in the home."),
]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(tune)


def tune(
    profile: Name,
    docs: Docs,
    extra: Extra = None,
    budget: Budget = 60.0,
    pages: Pages = 512,
    different: Different = 0.01,
    model: Model = None,
    gpu: Gpu = "",
    port: Port = 8100,
    jobs: Jobs = 2,
    only: Only = None,
    out: Out = None,
    accept_licence: AcceptLicence = False,
) -> None:
    """Find the fastest server settings for your own pages.

    Starts vLLM with one flag more each time and holds its answers against the untuned ones. The winner is
    written as a profile; Ctrl-C keeps what was measured and changes nothing.
    """
    from cli.environment import enter

    settings = enter()
    from cli.tuning import TuneWish, tune_and_show

    wish = TuneWish(
        profile=profile, documents=tuple(docs), budget_s=budget * 60, pages=pages, most_different=different,
        model=model, gpu=gpu, port=port, jobs=jobs, only=frozenset(only or ()), out=out,
        extra=tuple(extra or ()), is_accepted=accept_licence,
    )  # fmt: skip
    raise typer.Exit(tune_and_show(settings, wish))
