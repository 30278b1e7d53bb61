"""A server looked after: started, proven, watched, started anew when it died, wedged or leaks."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from models.errors import EnvironmentFault
from tasks.work.ports import check_port
from tasks.work.processes.keeper import mind_log
from tasks.work.serving.gate import Audition, Gate
from tasks.work.serving.plan import Server
from tasks.work.serving.proof import Proof, prove
from tasks.work.serving.pulse import Pulse, is_up, pulse

_MOST_BACKOFF_S = 60.0
_GONE_S = 10.0
"""Until then what was killed has let go of port and memory."""


class State(StrEnum):
    """Where a server stands."""

    STOPPED = "stopped"
    STARTING = "starting"
    READING = "reading"
    """It reads the golden pages."""
    READY = "ready"
    EMPTYING = "emptying"
    """It holds too much memory: restarted as soon as nothing is in flight."""
    WAITING = "waiting"
    """Dead; started again when its pause is over."""
    GIVEN_UP = "given-up"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what may take; seconds."""

    start_s: float = 900.0
    proof_s: float = 60.0
    stall_s: float = 120.0
    """Work waits and no token comes, or nothing is answered, for so long: wedged."""
    idle_proof_s: float = 120.0
    """An idle server proves itself so often."""
    empty_s: float = 600.0
    """Longest wait for a moment without requests before a planned restart."""
    stop_s: float = 30.0
    starts: int = 5
    """Starts in a row without proof before it is given up."""


class Supervised:
    """One server process. `tick` is called about once a second; it never blocks longer than a proof."""

    def __init__(
        self,
        server: Server,
        log: Path,
        *,
        patience: Patience | None = None,
        most_memory_mb: int = 0,
        gate: Gate | None = None,
        tell: Callable[[str], None] = print,
    ) -> None:
        self.server = server
        self.log = log
        self.state = State.STOPPED
        self.restarts = 0
        self._patience = patience or Patience()
        self._most_memory_mb = most_memory_mb
        self._tell = tell
        self._gate = gate
        self._audition: Audition | None = None
        self._is_admitted = gate is None
        self._process: subprocess.Popen[bytes] | None = None
        self._since = 0.0
        self._failed_starts = 0
        self._last: Pulse | None = None
        self._moved = 0.0
        self._is_warned = False
        """That it stands still has been told."""

    def start(self) -> None:
        """Start the process in a session of its own, its output to the log.

        Where somebody listens on its port that server would be taken for this one: then it fell.
        """
        try:
            check_port(self.server.plan.host, self.server.port)
        except EnvironmentFault as fault:
            self._fell(fault.message)
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.server.command(),
                env=self.server.full_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._enter(State.STARTING, f"starting, process {self._process.pid}, log {self.log}")

    def tick(self) -> None:
        """Look at the server and do what its state asks for."""
        if self.state is State.WAITING:
            if self._age() >= min(_MOST_BACKOFF_S, 2.0**self._failed_starts):
                self.start()
            return
        if self._process is None or self.state is State.GIVEN_UP:
            return
        mind_log(self.log)
        if self._process.poll() is not None:
            self._fell(f"the process ended with {self._process.returncode}")
        elif self.state is State.STARTING:
            self._try_to_prove()
        elif self.state is State.READING:
            self._hear()
        else:
            self._look()

    def stop(self) -> None:
        """End the process and all its children."""
        self._end()
        self._enter(State.STOPPED, "stopped")

    def memory_mb(self) -> int:
        """Resident memory of the process and its children, MiB."""
        if self._process is None:
            return 0
        total = 0
        for process in _family(self._process.pid):
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:  # ended since it was listed
                continue
        return total // 2**20

    def _try_to_prove(self) -> None:
        if not is_up(self.server.url):
            if self._age() > self._patience.start_s:
                self._fell(f"not up after {self._patience.start_s:g} s")
            return
        proof = self._prove()
        if not proof.holds:
            self._fell(f"it does not read: {proof.error}")
            return
        # The first reply pays for compilation; the second is what clients will see.
        warm = self._prove()
        self._failed_starts = 0
        said = f"after {self._age():.0f} s a small picture takes {warm.seconds:.2f} s"
        # Once it was let in, a server that is started again is the same server.
        if self._gate and not self._is_admitted:
            self._audition = self._gate.begin(self.server)
        if self._audition:
            self._enter(State.READING, f"{said}; it reads the golden pages first")
        else:
            self._enter(State.READY, f"ready, {said}")

    def _hear(self) -> None:
        """Let a server in that has read the golden pages well enough; another start would not help."""
        mark = self._audition.mark() if self._audition else None
        if mark is None or self._gate is None:
            return
        refused = self._gate.judge(self.server.plan.profile, mark)
        if refused:
            self._end()
            self._enter(State.GIVEN_UP, f"refused: {refused}. To serve it all the same: --no-golden")
            return
        self._dismiss()
        self._is_admitted = True
        told = f"{mark.errors:.1%} of characters wrong on {mark.pages} golden pages, {mark.seconds:.0f} s"
        self._enter(State.READY, f"ready, {told}")

    def _dismiss(self) -> None:
        if self._audition:
            self._audition.close()
        self._audition = None

    def _look(self) -> None:
        now = time.monotonic()
        beat = pulse(self.server.url)
        if beat is not None and (self._last is None or beat.tokens != self._last.tokens):
            self._moved, self._is_warned = now, False
        self._last = beat or self._last
        if beat is None or beat.in_work:
            if self._is_stuck(now - self._moved, answers=beat is not None):
                return
        elif now - self._moved > self._patience.idle_proof_s:
            self._prove_idle()
            return
        self._mind_memory(beat)

    def _is_stuck(self, still_s: float, *, answers: bool) -> bool:
        """Whether it was ended for standing still. What is to come is said at a sixth of the time."""
        most_s = self._patience.stall_s
        why = "there is work and no token comes" if answers else "it does not answer"
        if still_s > most_s:
            # It would not hear a polite word.
            self._fell(f"wedged: {why}", grace_s=0.0)
            return True
        if still_s > most_s / 6 and not self._is_warned:
            self._is_warned = True
            self._tell(
                f"{self.server.name}: {why}; started anew unless that ends within {most_s - still_s:.0f} s"
            )
        return False

    def _prove_idle(self) -> None:
        proof = self._prove()
        self._moved = time.monotonic()
        if not proof.holds:
            self._fell(f"it reads no more: {proof.error}")

    def _mind_memory(self, beat: Pulse | None) -> None:
        used = self.memory_mb()
        if self.state is State.READY and self._most_memory_mb and used > self._most_memory_mb:
            self._enter(State.EMPTYING, f"holds {used:,} MiB: starts anew when nothing is in flight")
        elif self.state is State.EMPTYING:
            is_empty = beat is not None and not beat.in_work
            if is_empty or self._age() > self._patience.empty_s:
                self._end()
                self.restarts += 1
                self.start()

    def _fell(self, why: str, *, grace_s: float | None = None) -> None:
        self._end(grace_s)
        self._failed_starts += 1
        self.restarts += 1
        if self._failed_starts >= self._patience.starts:
            self._enter(State.GIVEN_UP, f"{why}; given up after {self._failed_starts} starts")
        else:
            self._enter(State.WAITING, f"{why}; starts again in {2**self._failed_starts} s")

    def _prove(self) -> Proof:
        plan = self.server.plan
        return prove(self.server.url, plan.vlm, plan.api_key, self._patience.proof_s)

    def _end(self, grace_s: float | None = None) -> None:
        self._dismiss()
        if self._process is not None:
            end_group(self._process, self._patience.stop_s if grace_s is None else grace_s)
        self._process = None
        self._last = None

    def _enter(self, state: State, said: str) -> None:
        self.state = state
        self._tell(f"{self.server.name}: {said}")
        self._since = self._moved = time.monotonic()

    def _age(self) -> float:
        return time.monotonic() - self._since


def end_group(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End a process and its session: politely, after `grace_s` seconds for good."""
    family = _family(process.pid)
    _signal_group(process.pid, signal.SIGTERM)
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()
    # Engine processes outlive a server that was killed and would keep the GPU's memory.
    alive = psutil.wait_procs(family, timeout=1)[1]
    for child in alive:
        child.kill()
    psutil.wait_procs(alive, timeout=_GONE_S)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:  # it has ended by itself
        return
