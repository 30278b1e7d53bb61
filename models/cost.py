"""What reading costs: pages, tokens, GPU seconds and money, from stored timings."""

import re
from dataclasses import dataclass

from models.errors import ConfigurationError
from models.stage import Stage
from models.telemetry import DeviceUse

_CURRENCY = r"[^-+\d\s.,/]*"
_PRICE = re.compile(
    rf"\s*(?P<before>{_CURRENCY})\s*(?P<amount>\d+(?:[.,]\d+)?)\s*(?P<after>{_CURRENCY})\s*(?:/\s*h)?\s*"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, slots=True)
class Price:
    """What a GPU costs an hour."""

    amount: float
    currency: str = ""

    @classmethod
    def parse(cls, text: str) -> "Price":
        """From e.g. 2.69/h, $2.69/h or 2,69 EUR. Raises ConfigurationError; for 1,000 too: 1 or 1000?"""
        found = _PRICE.fullmatch(text)
        if found is None or _THOUSANDS.fullmatch(found["amount"]):
            raise ConfigurationError(f"'{text}' is no price. Write what a GPU costs an hour, e.g. 2.69/h.")
        return cls(float(found["amount"].replace(",", ".")), found["before"] or found["after"])

    def of(self, gpu_s: float) -> float:
        """Money for so many GPU seconds."""
        return self.amount * gpu_s / 3600


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one document, run or profile took. Pages copied from earlier readings do not count."""

    key: str
    pages: int
    wall_s: float
    """From the first page sent to the last one read, summed over runs."""
    gpu_s: float
    """`wall_s` times the GPUs of the run; a document's part is that of its engine seconds."""
    tokens_in: int
    tokens_out: int

    @property
    def pages_per_s(self) -> float:
        """0 where no page was read."""
        return self.pages / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def gpu_s_per_1000(self) -> float:
        """GPU seconds for 1,000 pages such as these."""
        return 1000 * self.gpu_s / self.pages if self.pages else 0.0


@dataclass(frozen=True, slots=True)
class StageUse:
    """How a stage was occupied over a run."""

    stage: Stage
    busy: float
    """Share of its workers that had work, 0 to 1."""
    queued: float
    """Mean pieces of work that waited for it."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The stage that holds a run up, and what shows it."""

    run_id: int
    stages: tuple[StageUse, ...]
    """In the order of the story."""
    gpus: tuple[DeviceUse, ...]

    @property
    def stage(self) -> StageUse | None:
        """The busiest, of equally busy ones the one with the longest queue; None where nothing was seen."""
        return max(self.stages, key=lambda use: (round(use.busy, 1), use.queued), default=None)

    @property
    def gpu_busy(self) -> float | None:
        """Mean over GPUs; None without any."""
        known = [gpu.busy for gpu in self.gpus if gpu.busy is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class CostReport:
    """Costs by document, run or profile, and what limits the newest run that was watched."""

    by: str
    rows: tuple[CostRow, ...]
    price: Price
    limit: Limit | None
