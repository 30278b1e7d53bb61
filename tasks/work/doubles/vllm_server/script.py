"""What a scripted server answers, and to whom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server saw it; pictures by their SHA-256, in order."""

    number: int
    """From 1, counted over all requests that were no proofs."""
    images: tuple[str, ...]
    prompt: str
    body: Mapping[str, Any]
    """Everything but the messages."""
    tokens_in: int
    """Image and prompt tokens by the model's pixel grid."""

    @property
    def max_tokens(self) -> int | None:
        """Reply tokens that were asked for."""
        limit = self.body.get("max_completion_tokens") or self.body.get("max_tokens")
        return None if limit is None else int(limit)


@dataclass(frozen=True, slots=True)
class Said:
    """A reply. It takes `seconds`, else what its tokens take at the server's speed."""

    text: str
    finish: str = "stop"
    """stop, length or repetition. A text longer than max_tokens is cut and ends with length anyway."""
    tokens: int | None = None
    """None: one for four characters."""
    seconds: float | None = None
    logprob: float = -0.01
    """Of every token."""

    @property
    def length(self) -> int:
        """Reply tokens."""
        return max(1, len(self.text) // 4) if self.tokens is None else self.tokens


@dataclass(frozen=True, slots=True)
class Refused:
    """An error in vLLM's form. `kind` is its `type`; an empty one gives a plain string, as a 401 is."""

    status: int
    message: str
    kind: str = "BadRequestError"
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Hangs:
    """Holds a seat for ever and says nothing."""


@dataclass(frozen=True, slots=True)
class Drops:
    """Closes the connection without a word; the server lives on."""


@dataclass(frozen=True, slots=True)
class Kills:
    """The server dies of this request: all connections break, and nobody listens for `down_s` seconds."""

    down_s: float = 0.5


Answer = Said | Refused | Hangs | Drops | Kills
Script = Answer | Sequence[Answer] | Mapping[str, Answer | Sequence[Answer]] | Callable[[Asked], Answer]

UNSCRIPTED = Said("Words on paper")


@dataclass
class Prompter:
    """Gives the next answer. See `ScriptedVllm` for the forms that a script may have."""

    script: Script
    default: Answer = UNSCRIPTED
    _given: dict[str, int] = field(default_factory=dict)

    def next(self, asked: Asked) -> Answer:
        """The answer to a request."""
        script = self.script
        if isinstance(script, Answer):
            return script
        if isinstance(script, Sequence):
            return self._turn("", script, self.default)
        if isinstance(script, Mapping):
            given = script.get(asked.images[0] if asked.images else "", self.default)
            if isinstance(given, Answer):
                return given
            return self._turn(asked.images[0], given, given[-1])
        return script(asked)

    def _turn(self, key: str, answers: Sequence[Answer], after: Answer) -> Answer:
        turn = self._given.get(key, 0)
        self._given[key] = turn + 1
        return answers[turn] if turn < len(answers) else after


def bad_request(message: str, param: str | None = None) -> Refused:
    """400, as for a picture that cannot be decoded."""
    return Refused(400, message, param=param)


def prompt_too_long(tokens: int, context: int) -> Refused:
    """400: the prompt, pictures included, is longer than the context."""
    return bad_request(
        f"This model's maximum context length is {context} tokens. However, you requested 0 output tokens "
        f"and your prompt contains {tokens} input tokens. Please reduce the length of the input prompt.",
        "input_tokens",
    )


def too_many_wanted(wanted: int, tokens: int, context: int) -> Refused:
    """400: prompt and reply together are longer than the context."""
    return bad_request(
        f"'max_tokens' or 'max_completion_tokens' is too large: {wanted}. This model's maximum context "
        f"length is {context} tokens and your request has {tokens} input tokens "
        f"({wanted} > {context} - {tokens}).",
        "max_tokens",
    )


def picture_too_large(tokens: int, limit: int) -> Refused:
    """400: one picture has more tokens than the encoder cache holds, whatever the context."""
    return bad_request(
        f"The decoder prompt contains a(n) image item with length {tokens}, which exceeds the pre-allocated "
        f"encoder cache size {limit}. Please reduce the input size or increase the encoder cache size by "
        "setting --limit-mm-per-prompt at startup."
    )


def server_error(message: str = "Internal Server Error") -> Refused:
    """500, e.g. the image cache's drift after a refusal."""
    return Refused(500, message, "InternalServerError")


def overloaded() -> Refused:
    """503 of a server with a limited queue: it does not say when to come again."""
    return Refused(503, "Service Unavailable", "ServiceUnavailableError")


def engine_dead() -> Refused:
    """500 for what is in flight when the engine dies."""
    return server_error("EngineCore encountered an issue. See stack trace (above) for the root cause.")
