"""Optional flags are tried before they are trusted: a server with them has to start and to read."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tasks.work.serving.plan import Plan
from tasks.work.serving.proof import prove
from tasks.work.serving.supervisor import Patience, State, Supervised

_LOOK_S = 1.0
_PROOFS = 3


def smoke_test(plan: Plan, log: Path, patience: Patience, tell: Callable[[str], None]) -> tuple[bool, str]:
    """Whether a server with the plan's options starts and reads, and what it said. Takes a start."""
    server = plan.servers()[0]
    tried = Supervised(server, log, patience=replace(patience, starts=1), tell=tell)
    tried.start()
    try:
        while tried.state is State.STARTING:
            time.sleep(_LOOK_S)
            tried.tick()
        if tried.state is not State.READY:
            return False, f"no proof after the start; the log is {log}"
        return _reads(server.url, plan, patience)
    finally:
        tried.stop()


def _reads(url: str, plan: Plan, patience: Patience) -> tuple[bool, str]:
    proofs = [prove(url, plan.vlm, plan.api_key, patience.proof_s) for _ in range(_PROOFS)]
    for proof in proofs:
        if not proof.holds:
            return False, proof.error
    return True, f"a small picture takes {min(proof.seconds for proof in proofs):.2f} s"
