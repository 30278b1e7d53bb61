"""Which machine this is, told from another of the same name."""

import hashlib
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NUMBERS = Path("/proc/self/ns/pid")


def machine() -> str:
    """The host's name, and eight digits that stand for its last start and its space of process numbers.

    Cloned machines and containers have equal names, and a process number means nothing beyond such a space.
    Systems other than Linux have the name alone.
    """
    name = socket.gethostname()
    try:
        told = _BOOT.read_text() + str(_PROCESS_NUMBERS.readlink())
    except OSError:
        return name
    return f"{name}+{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def name_of(machine: str) -> str:
    """The host's name."""
    return machine.partition("+")[0]
