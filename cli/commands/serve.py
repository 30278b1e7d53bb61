"""pagemill serve."""

from typing import Annotated

import typer

from cli.options import AcceptLicence

Name = Annotated[str, typer.Argument(metavar="PROFILE", help="OCR model, see 'pagemill profiles'.")]
Extra = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- FLAG...]", help="More flags for vLLM, after '--'; they win."),
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="PATH", help="Folder with the weights, or another name.")
]
Gpus = Annotated[str, typer.Option("--gpus", metavar="0,1", help="GPUs; default: all; 'none': the CPU.")]
DataParallel = Annotated[
    bool, typer.Option("--data-parallel", help="All GPUs behind one port, not one server each.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="OPTION", help="Optional flags of the profile, e.g. mtp; repeatable."),
]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="PORT", min=1, max=65_000, help="Port of the first server.")
]
Download = Annotated[bool, typer.Option("--download", help="Let vLLM fetch missing weights.")]
Memory = Annotated[
    int | None,
    typer.Option("--memory-mb", metavar="MB", min=256, help="Host memory at which a server is started anew."),
]
Golden = Annotated[
    bool, typer.Option("--golden/--no-golden", help="Pages only after golden pages were read well.")
]
Print = Annotated[bool, typer.Option("--print", help="Print the commands and systemd units, start nothing.")]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(serve)


def serve(
    profile: Name,
    extra: Extra = None,
    model: Model = None,
    gpus: Gpus = "",
    data_parallel: DataParallel = False,
    options: Options = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    download: Download = False,
    memory_mb: Memory = None,
    golden: Golden = True,
    accept_licence: AcceptLicence = False,
    only_print: Print = False,
) -> None:
    """Serve an OCR model with vLLM on the GPUs of this machine.

    The server is looked after: proven, watched, started anew. Ctrl-C stops it.
    On the same home 'pagemill ingest --profile PROFILE' finds it by itself.
    """
    from cli.environment import enter

    settings = enter()
    from cli.serving import Wish, serve_and_watch

    wish = Wish(
        profile=profile,
        model=model,
        gpus=gpus,
        host=host,
        port=port,
        is_data_parallel=data_parallel,
        may_download=download,
        options=tuple(options or ()),
        extra=tuple(extra or ()),
        memory_mb=memory_mb,
        reads_golden=golden,
        is_accepted=accept_licence,
    )
    raise typer.Exit(serve_and_watch(settings, wish, only_print=only_print))
