"""What can go wrong between a client and a server, and what an error status means for the page."""

import re
from dataclasses import dataclass

import httpx
import orjson

from models.errors import Code, ConfigurationError, PageFailed

_MOST_CHARS = 300


class Away(Exception):
    """The server cannot be reached or is not to be used; the request was not taken up."""


class Broken(Exception):
    """The request was under way and no answer came: a lost connection or an error of the server's own.

    Whether the server died of it is for its keeper to find out.
    """


class Overdue(Exception):
    """No answer by the page's deadline."""


@dataclass
class Busy(Exception):
    """The server takes no more just now."""

    after_s: float


@dataclass
class TooLarge(Exception):
    """Picture and reply do not fit: sent again with less, once."""

    message: str
    shrink: float = 0.5
    """Share of the picture's pixels that can be expected to fit; 1: the reply is to be shorter instead."""


def key_refused(where: str, response: httpx.Response) -> ConfigurationError:
    """What to do about a 401 or 403 of the server `where`, by whether a key was sent."""
    if "authorization" in response.request.headers:
        why = "does not accept the key in PAGEMILL_OCR_API_KEY. Set the one that it was started with"
    else:
        why = "wants a key: set PAGEMILL_OCR_API_KEY to the one that it was started with"
    return ConfigurationError(f"{where} {why}.")


def raise_for(response: httpx.Response) -> None:
    """Nothing for 200; else what the status means, as one of the above or as PageFailed."""
    status = response.status_code
    if status == httpx.codes.OK:
        return
    message, param = told(response)
    if status in {httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS}:
        raise Busy(_seconds(response.headers.get("retry-after")))
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Broken(f"{status}: {message}")
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.NOT_FOUND}:
        raise Away(f"{status}: {message}")
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        raise TooLarge(message)
    if status == httpx.codes.BAD_REQUEST:
        _raise_for_size(message, param)
    raise PageFailed(f"The OCR server refused the page ({status}): {message}", Code.OCR_REJECTED)


def told(response: httpx.Response) -> tuple[str, str]:
    """Message, in one line, and parameter of an error, whatever shape it has."""
    try:
        error = orjson.loads(response.content)["error"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return _line(response.text), ""
    if not isinstance(error, dict):
        return _line(str(error)), ""
    return _line(str(error.get("message", ""))), str(error.get("param") or "")


def _line(text: str) -> str:
    return " ".join(text.split())[:_MOST_CHARS]


def _raise_for_size(message: str, param: str) -> None:
    """The texts are vLLM's; they have no code of their own."""
    item = re.search(r"item with length (\d+).*size (\d+)", message)
    if item:
        raise TooLarge(message, int(item[2]) / int(item[1]))
    if param == "max_tokens" or "max_tokens" in message:
        raise TooLarge(message, 1.0)
    if param == "input_tokens" or re.search(r"maximum (context|model) length|max_model_len", message):
        raise TooLarge(message)


def _seconds(retry_after: str | None) -> float:
    try:
        return min(60.0, max(0.1, float(retry_after or "")))
    except ValueError:
        return 1.0
