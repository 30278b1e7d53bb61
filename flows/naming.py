"""What flow runs are called on Prefect's screen: what, where and when."""

import datetime as dt
import os
import socket
from collections.abc import Callable

from prefect.runtime import flow_run

_WORKER = "PREFECT__WORKER_NAME"
"""Workers tell it to the processes of their runs."""


def run_name(flow: str) -> Callable[[], str]:
    """Names runs of `flow` like `ocr gpu-0 2026-11-30 14:05`, by the clock of the machine they run on."""

    def name() -> str:
        return f"{flow} {where()} {dt.datetime.now(dt.UTC).astimezone():%Y-%m-%d %H:%M}"

    return name


def backfill_name() -> str:
    """Of backfills there are many at a time: what each reads with, and from which stage."""
    given = flow_run.parameters
    stage = given.get("from_stage", "ocr")
    return run_name(f"backfill {given.get('profile', '')} from {getattr(stage, 'value', stage)}")()


def where() -> str:
    """The worker that runs this process, else the machine."""
    return os.environ.get(_WORKER) or socket.gethostname()
