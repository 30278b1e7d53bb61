"""One server: how it is spoken to, and what is known of it."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import orjson

from models.errors import ConfigurationError, EnvironmentFault
from models.vlm import Vlm
from tasks.work.engines.vllm.connections import Connections
from tasks.work.engines.vllm.faults import Away, Broken, Overdue, key_refused, raise_for, told
from tasks.work.engines.vllm.jobs import Job
from tasks.work.engines.vllm.sample import Sample, read_sample
from tasks.work.engines.vllm.steering import Steering
from tasks.work.engines.vllm.wire import Dialect
from tasks.work.serving.proof import proof_request

_CONNECT_S = 5.0
_ASK_S = 15.0
"""For /metrics and the like: a server that decodes hundreds of pictures answers late."""
_IDLE_S = 3.0
"""vLLM closes a connection that was idle for 5 s; one that is about to be closed must not be used again."""


# Without a repr, as jobs: it would name all requests under way.
@dataclass(eq=False, repr=False)
class Server:
    """A server's address and state. Lives in the client's event loop."""

    url: str
    vlm: Vlm
    client: httpx.AsyncClient
    steering: Steering
    is_proven: bool = False
    reason: str = "not asked yet"
    """Why it is not proven."""
    refusal: ConfigurationError | EnvironmentFault | None = None
    """What is wrong is not the server's state but how it was named."""
    version: str = ""
    root: str = ""
    context: int = 0
    """The smaller of what the profile and the server say."""
    dialect: Dialect = field(default_factory=Dialect)
    errors: float | None = None
    """Share of characters of golden pages that it misread; None where it was not heard."""
    open: dict[Job, "asyncio.Task[None]"] = field(default_factory=dict)
    broken: list[Job] = field(default_factory=list)
    """Requests that ended without an answer; the keeper finds out why."""
    overdue: list[Job] = field(default_factory=list)
    """Requests without an answer by their deadline, while no other came either."""
    moved_at: float = field(default_factory=time.monotonic)
    """When the server last showed that it works: an answer, or more tokens."""
    queue_s: float | None = None
    """Mean waiting time of the requests that it seated of late."""
    alarm: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when its keeper is to look at once."""
    looked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set after the first look."""

    @property
    def failed(self) -> list[Job]:
        """Broken and overdue, as they are now."""
        return [*self.broken, *self.overdue]

    @property
    def room(self) -> int:
        """Requests that may be sent now; none while it is not known whether it still lives."""
        is_trusted = self.is_proven and not self.broken and not self.overdue
        return self.steering.limit - len(self.open) if is_trusted else 0

    @property
    def label(self) -> str:
        """URL without secrets, and version."""
        return " ".join(filter(None, (without_secrets(self.url), self.version and f"vllm {self.version}")))

    async def ask(self, body: bytes, deadline_s: float) -> bytes:
        """A chat completion. Raises what `raise_for` raises, Away, Broken, and Overdue after the deadline."""
        try:
            async with asyncio.timeout(deadline_s):
                response = await self.client.post(f"{self.url}/v1/chat/completions", content=body)
        except TimeoutError as error:
            raise Overdue(f"no answer in {deadline_s:.0f} s") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Away(_why(error)) from error
        except httpx.HTTPError as error:
            raise Broken(_why(error)) from error
        raise_for(response)
        self.moved_at = time.monotonic()
        return _let_go(response).content

    async def check_health(self) -> None:
        """Raises Away when /health says that its engine is dead; a server without one is believed."""
        response = await self._get("/health")
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise Away(f"/health: {response.status_code}")

    async def sample(self) -> Sample | None:
        """Its metrics; None where it has none. Raises Away."""
        response = await self._get("/metrics")
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise Away(f"/metrics: {response.status_code}")
        if response.status_code != httpx.codes.OK or "vllm:" not in response.text:
            return None
        return read_sample(response.text.splitlines())

    async def introduce(self) -> None:
        """Find out what it serves. Raises Away; ConfigurationError where waiting cannot help."""
        card = _card(self, await self._get("/v1/models"))
        self.root = str(card.get("root") or card["id"])
        self.context = min(self.vlm.context, int(card.get("max_model_len") or self.vlm.context))
        response = await self._get("/version")
        is_vllm = response.status_code == httpx.codes.OK and card.get("owned_by", "vllm") == "vllm"
        self.version = str(_json(response).get("version", "")) if is_vllm else ""
        self.dialect = Dialect(is_vllm=is_vllm)

    async def prove(self, deadline_s: float) -> None:
        """Have it read a small picture. Raises Away when it does not: /health alone says little."""
        for has_priorities in (self.dialect.is_vllm, False):
            response = await self._prove(has_priorities, deadline_s)
            message, _ = ("", "") if response.status_code == httpx.codes.OK else told(response)
            if not (has_priorities and "riority" in message):
                break
        if response.status_code != httpx.codes.OK:
            raise Away(f"a small picture was answered with {response.status_code}: {message}")
        self.dialect = Dialect(self.dialect.is_vllm, has_priorities)
        self.moved_at = time.monotonic()

    async def _prove(self, has_priorities: bool, deadline_s: float) -> httpx.Response:
        body = proof_request(self.vlm) | ({"priority": 1} if has_priorities else {})
        url = f"{self.url}/v1/chat/completions"
        try:
            async with asyncio.timeout(deadline_s):
                return await self.client.post(url, content=orjson.dumps(body))
        except TimeoutError as error:
            raise Away(f"a small picture was not read in {deadline_s:.0f} s") from error
        except httpx.HTTPError as error:
            raise Away(_why(error)) from error

    async def _get(self, path: str) -> httpx.Response:
        try:
            async with asyncio.timeout(_ASK_S):
                return _let_go(await self.client.get(f"{self.url}{path}"))
        except TimeoutError as error:
            raise Away(f"{path} was not answered in {_ASK_S:.0f} s") from error
        except httpx.HTTPError as error:
            raise Away(_why(error)) from error


def connect(api_key: str) -> httpx.AsyncClient:
    """What speaks to all servers, past the proxies of the environment: they are one's own."""
    return httpx.AsyncClient(
        headers={"Content-Type": "application/json"}
        | ({"Authorization": f"Bearer {api_key}"} if api_key else {}),
        timeout=httpx.Timeout(None, connect=_CONNECT_S),
        transport=Connections(_IDLE_S),
        trust_env=False,
    )


def _let_go(response: httpx.Response) -> httpx.Response:
    """A response that was read, without its stream.

    httpx binds the two to each other: with them the request and its picture would stay until Python looks
    for garbage.
    """
    response.stream = httpx.ByteStream(b"")
    return response


def without_secrets(url: str) -> str:
    """A URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _card(server: Server, response: httpx.Response) -> dict[str, Any]:
    """The entry of /v1/models for the profile's model."""
    where = without_secrets(server.url)
    if response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        raise key_refused(where, response)
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise Away(f"/v1/models: {response.status_code}")
    cards = _json(response).get("data")
    if response.status_code != httpx.codes.OK or not isinstance(cards, list):
        raise ConfigurationError(
            f"{where} does not speak the OpenAI API (/v1/models: {response.status_code}). Set "
            "PAGEMILL_OCR_URL to a server such as 'pagemill serve' starts."
        )
    named: dict[str, dict[str, Any]] = {str(card["id"]): card for card in cards}
    if server.vlm.served_name not in named:
        raise ConfigurationError(
            f"{where} serves no model '{server.vlm.served_name}' but: {', '.join(named) or 'none'}. "
            f"Start it with --served-model-name {server.vlm.served_name}."
        )
    return named[server.vlm.served_name]


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        value: object = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return {}
    return {str(name): one for name, one in value.items()} if isinstance(value, dict) else {}


def _why(error: Exception) -> str:
    if isinstance(error, httpx.ConnectError):
        return f"no connection ({error})"
    return f"connection lost ({type(error).__name__})"
