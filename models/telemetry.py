"""What a GPU, our processes or a stage's queue did at one moment, and over a run."""

import datetime as dt
from dataclasses import dataclass

GPU = "gpu:"
"""Devices that are GPUs: this and their number."""
STAGE = "stage:"
"""Devices that are stages: this and their name."""
PROCESSES = "pagemill"
"""All processes of a run on its host."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at one device."""

    device: str
    at: dt.datetime
    busy: float | None = None
    """0 to 1. A GPU's own word; of processes, of all cores; of a stage, how many of its workers have work."""
    memory_mb: float | None = None
    power_w: float | None = None
    queued: int | None = None
    """Of a stage: pieces of work that nobody has begun."""
    in_hand: int | None = None
    """Of a stage: pieces of work that somebody has claimed."""


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """One device over the samples of a run."""

    device: str
    samples: int
    busy: float | None
    """Mean, 0 to 1."""
    busy_p10: float | None
    """A tenth of the samples lies below."""
    memory_mb: float | None
    """The most."""
    power_w: float | None
    """Mean."""
    queued: float | None
    """Mean."""
    in_hand: float | None
    """Mean."""
