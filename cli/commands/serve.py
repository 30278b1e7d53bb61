"""pagemill serve."""

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(serve)


def serve(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="OCR model, see 'pagemill profiles'.")],
    extra: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- FLAG...]", help="More flags for vLLM, after '--'; they win."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="PATH", help="Folder with the weights, or another name.")
    ] = None,
    gpus: Annotated[
        str, typer.Option("--gpus", metavar="0,1", help="GPUs to use; default: all. 'none': the CPU.")
    ] = "",
    data_parallel: Annotated[
        bool, typer.Option("--data-parallel", help="All GPUs behind one port, not one server each.")
    ] = False,
    options: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="OPTION", help="Optional flags of the profile, e.g. mtp; repeatable."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65_000, help="Port of the first server.")] = 8000,
    download: Annotated[bool, typer.Option("--download", help="Let vLLM fetch missing weights.")] = False,
    memory_mb: Annotated[
        int | None,
        typer.Option("--memory-mb", min=256, help="Host memory at which a server is started anew."),
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the commands and systemd units, start nothing.")
    ] = False,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="Agree to the terms of the weights.")
    ] = False,
) -> None:
    """Serve an OCR model with vLLM on this machine's GPUs and look after it.

    Ctrl-C stops it. 'pagemill ingest --profile PROFILE' finds the server by itself on the same home.
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
        accepts_licence=accept_licence,
    )
    raise typer.Exit(serve_and_watch(settings, wish, only_print=only_print))
