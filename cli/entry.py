"""Entry point of the `pagemill` script."""

import signal


def main() -> None:
    """Run the command. While its modules are imported Ctrl-C ends the process at once and without a word.

    Nothing has been begun by then, and Python would print where in whose import it was.
    """
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from cli.main import main as run  # noqa: PLC0415 (what is to be quiet)

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
