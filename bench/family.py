"""The processes of one run: the command, its workers, and the Postgres of its home."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from db import postmaster

_KIB, _MIB = 2**10, 2**20


def members(command: psutil.Process, home: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Role and process: command, worker, and postgres, which has left the command's family."""
    yield "command", command
    found: dict[int, psutil.Process] = {}
    try:
        found |= {child.pid: child for child in command.children(recursive=True)}
        if server := postmaster.find_server(home.resolve() / "postgres"):
            found |= {one.pid: one for one in (server, *server.children(recursive=True))}
    except psutil.Error:
        # One of the two has just ended.
        pass
    for process in found.values():
        try:
            yield ("postgres" if "postgres" in process.name() else "worker"), process
        except psutil.Error:
            continue


@dataclass
class Family:
    """What the members used so far: CPU seconds by role, and the most memory each of them had."""

    cpu: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    peak_mb: dict[tuple[str, int], float] = field(default_factory=dict)
    """Most resident memory by role and process id, as the system has noted it."""
    pss_mb: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Most proportional memory of all members of a role together."""
    tree_s: float = 0.0
    """CPU seconds of the command and all its descendants."""
    _seen: dict[tuple[int, float], float] = field(default_factory=dict)

    def look(self, command: psutil.Process, home: Path, *, at_pss: bool) -> None:
        """Take in what the members have used since the last look; `at_pss`: their shares too, which costs."""
        shares: dict[str, float] = defaultdict(float)
        self.tree_s = max(self.tree_s, tree_s(command))
        for role, process in members(command, home):
            try:
                self._add(role, process)
                shares[role] += process.memory_full_info().pss / _MIB if at_pss else 0.0
            except (psutil.Error, OSError):
                continue
        for role, share in shares.items():
            self.pss_mb[role] = max(self.pss_mb[role], share)

    def peaks(self, role: str) -> list[float]:
        """Of the processes of a role, the largest first, in MB."""
        return sorted((mb for (name, _), mb in self.peak_mb.items() if name == role), reverse=True)

    def _add(self, role: str, process: psutil.Process) -> None:
        times, key = process.cpu_times(), (process.pid, process.create_time())
        used = times.user + times.system
        self.cpu[role] += max(0.0, used - self._seen.get(key, 0.0))
        self._seen[key] = used
        self.peak_mb[role, process.pid] = max(
            high_water_mb(process.pid), self.peak_mb.get((role, process.pid), 0.0)
        )


def tree_s(root: psutil.Process) -> float:
    """CPU seconds so far of a process and of all its descendants, ended ones too.

    An ended one counts with whoever waited for it: a server of forks, say, which its own parent does not wait
    for, so that the system's count for children would leave out all worker processes.
    """
    seconds = 0.0
    try:
        tree = [root, *root.children(recursive=True)]
    except psutil.Error:
        return seconds
    for process in tree:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def high_water_mb(pid: int) -> float:
    """The most resident memory that a process has had, as Linux has noted it. Raises OSError."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB / _MIB
    return 0.0
