"""The servers that read pages over the network."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class OcrServers:
    """Where they are and how patient a client is with them."""

    urls: tuple[str, ...]
    """Base URLs without /v1."""
    api_key: str = field(default="", repr=False)
    wait_s: float = 600.0
    """Pages wait so long for a server that is away before they are given up."""
    in_flight: int | None = None
    """Requests to each server at once; None: steered by what the server says of itself."""
    golden: Path | None = None
    """Home with golden pages and with what servers made of them: one that misreads them gets no others. None:
    all are believed."""


def urls_of(text: str) -> tuple[str, ...]:
    """Base URLs out of a comma-separated list; a path /v1 at the end may be there or not.

    Raises ValueError for what is no http or https URL.
    """
    urls = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        url = word.rstrip("/").removesuffix("/v1")
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"'{word}' is no URL such as http://127.0.0.1:8000")
        urls.append(url)
    return tuple(dict.fromkeys(urls))
