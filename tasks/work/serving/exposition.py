"""Numbers out of what a server says of itself at /metrics, in Prometheus' text form."""

from collections.abc import Iterable, Mapping

_PREFIXES = ("vllm:", "process_")


def sums(lines: Iterable[str], names: Mapping[str, str]) -> dict[str, float]:
    """Metrics by what `names` calls them, each summed over its labels: one a data-parallel engine.

    Two metrics may have one name together; what is not told is 0.
    """
    found = dict.fromkeys(names.values(), 0.0)
    for line in lines:
        # Three quarters of the lines are buckets of histograms: look no further than needed.
        if line.startswith(_PREFIXES):
            name = names.get(line.partition("{")[0].partition(" ")[0])
            if name:
                found[name] += _value(line)
    return found


def _value(line: str) -> float:
    # Label values may hold spaces and braces; a time may follow the value.
    rest = line.rpartition("}")[2] if "{" in line else line.partition(" ")[2]
    return float(rest.split()[0])
