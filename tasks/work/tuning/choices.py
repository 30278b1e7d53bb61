"""What is tried on a server: a profile's optional flags, then vLLM's settings that matter for pages."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from models.profile import Profile
from models.vlm import Vlm

_OTHER_WEIGHTS = {"awq", "gptq"}
"""Options for weights that were made for them: with others a server does not start."""

_ANYWHERE = (
    ("--max-num-seqs", ("128", "256", "512")),
    ("--max-num-batched-tokens", ("8192", "16384", "32768")),
    ("--block-size", ("16", "32")),
    ("--mm-processor-cache-gb", ("0", "4")),
)
_ON_GPU = (
    ("--api-server-count", ("2", "4")),
    ("--renderer-num-workers", ("4",)),
    ("--mm-tensor-ipc", ("torch_shm",)),
    ("--gpu-memory-utilization", ("0.95",)),
    ("--quantization", ("fp8",)),
    ("--kv-cache-dtype", ("fp8",)),
)
_SWITCHES = ("--enable-prefix-caching", "--no-enable-prefix-caching")
_CORES_PER_API_SERVER = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """One setting of a server, tried against the profile's own."""

    factor: str
    """What is set: the best choice of each factor is combined with those of others."""
    flags: tuple[str, ...]
    """As typed on `vllm serve`'s command line."""
    unsafe: str = ""
    """Why it is not tried: the profile knows that it breaks something."""

    @property
    def name(self) -> str:
        """The flags as one would type them."""
        return shlex.join(self.flags)


def choices(profile: Profile, *, is_on_gpu: bool, cores: int) -> tuple[Choice, ...]:
    """What to try, the likeliest to help first; nothing that the profile does already."""
    vlm = profile.vlm
    assert vlm is not None, "this profile needs no server"
    found: dict[tuple[str, ...], Choice] = {}
    for choice in (*_options(vlm), *_settings(vlm, is_on_gpu=is_on_gpu, cores=cores)):
        if choice.flags not in _given(vlm):
            found.setdefault(choice.flags, choice)
    return tuple(found.values())


def _options(vlm: Vlm) -> Iterator[Choice]:
    for flag in vlm.flags:
        if flag.state == "option" and flag.option not in _OTHER_WEIGHTS:
            words = tuple(shlex.split(flag.flag))
            yield Choice(words[0].removeprefix("--"), words)


def _settings(vlm: Vlm, *, is_on_gpu: bool, cores: int) -> Iterator[Choice]:
    for flag, values in (*_ANYWHERE, *(_ON_GPU if is_on_gpu else ())):
        for value in values:
            if _is_sensible(flag, value, vlm, cores):
                yield Choice(flag.removeprefix("--"), (flag, value))
    for switch in _SWITCHES:
        yield Choice("prefix-caching", (switch,), _known_to_break(vlm, (switch,)))


def _is_sensible(flag: str, value: str, vlm: Vlm, cores: int) -> bool:
    if flag == "--max-num-batched-tokens":
        # The largest picture has to fit into one step, or the server refuses it.
        return int(value) >= vlm.pixels.max_pixels // vlm.pixels.grid_px**2
    return flag != "--api-server-count" or int(value) * _CORES_PER_API_SERVER <= cores


def _known_to_break(vlm: Vlm, words: tuple[str, ...]) -> str:
    return next((one.about for one in vlm.flags if one.state == "breaks" and _words(one.flag) == words), "")


def _given(vlm: Vlm) -> set[tuple[str, ...]]:
    return {_words(flag.flag) for flag in vlm.flags if flag.state == "on"}


def _words(flag: str) -> tuple[str, ...]:
    return tuple(shlex.split(flag))
