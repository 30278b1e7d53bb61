"""Profiles from TOML files: any vision-language model behind an OpenAI-compatible URL.

A profile's name is its file's: PAGEMILL_HOME/profiles/NAME.toml, or a file or folder that PAGEMILL_PROFILES
names. docs/profiles.md describes the keys; they are those of models.profile.Profile, most with a default. A
file with `base = "glm-ocr"` takes everything that it does not say from that embedded profile.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from models import profiles
from models.errors import Code, ConfigurationError
from models.meant import meant
from models.profile import Profile
from models.profiles import serving
from models.profiles.chandra_terms import SCRIPTS
from models.settings import Settings
from models.vlm import Pixels, Rung

SUFFIX = ".toml"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_MOST_BYTES = 1_000_000
_GIVEN = {"name": "it is the file's name", "engine": "it is vllm, for any OpenAI-compatible server"}
_PIXELS = {"patch_px": 16, "merge": 2, "min_pixels": 65_536, "max_pixels": 4_194_304}
"""Of Qwen3-VL, the commonest architecture to start from."""
_LADDER = serving.ladder(
    Rung(kind="sampling", sampling={"temperature": 0.3, "top_p": 0.95}, when=serving.LOOPS + serving.ODD)
)


def find_profile(name: str, settings: Settings) -> Profile:
    """The profile called `name`, embedded or from a file.

    Raises ConfigurationError: unknown-profile with the names there are, or a file's fault with its key.
    """
    if name in profiles.PROFILES:
        return profiles.PROFILES[name]
    path = file_of(name, settings)
    if path is None:
        known = sorted({*profiles.PROFILES, *(path.stem for path in _files(settings))})
        raise ConfigurationError(
            f"There is no profile '{name}'. Known profiles: {', '.join(known)}.{meant(name, known)}",
            Code.UNKNOWN_PROFILE,
        )
    return load_profile(path)


def file_of(name: str, settings: Settings) -> Path | None:
    """The file of a profile; None where there is none of that name. Raises as `all_profiles`."""
    return next((path for path in _files(settings) if path.stem == name), None)


def all_profiles(settings: Settings) -> dict[str, Profile]:
    """Every profile by name: the embedded ones, then those from files. Raises as `load_profile`."""
    found = dict(profiles.PROFILES)
    for path in _files(settings):
        if path.stem not in found:
            found[path.stem] = load_profile(path)
    return found


def adopt(path: Path, settings: Settings) -> str:
    """Keep a profile's file below PAGEMILL_HOME, where later runs find it by its name, which is returned.

    A file of that name that was kept before is replaced. Raises as `load_profile`.
    """
    load_profile(path)
    kept = settings.root / "profiles" / path.name
    if not kept.exists() or kept.read_bytes() != path.read_bytes():
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(path.read_bytes())
        part.replace(kept)
    return path.stem


def load_profile(path: Path) -> Profile:
    """A profile from its file. Raises ConfigurationError: one line with the file and the key at fault."""
    content = _content(path)
    if path.stem in profiles.PROFILES or not _NAME.fullmatch(path.stem):
        raise ConfigurationError(
            f"{path}: a profile is named as its file: small letters, digits, '.', '_' and '-', and none of "
            f"{', '.join(sorted(profiles.PROFILES))}."
        )
    try:
        data = tomllib.loads(content.decode())
    except ValueError as error:
        raise ConfigurationError(f"{path}: this is no TOML: {error}.") from error
    for key, why in _GIVEN.items():
        if key in data:
            raise ConfigurationError(f"{path}: {key}: leave it out, {why}.")
    try:
        filled = _over_base(path, data) if "base" in data else _filled(path.stem, data, content)
        return Profile.model_validate(filled)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part).removesuffix("_") for part in first["loc"])
        raise ConfigurationError(f"{path}: {key}: {first['msg'].removeprefix('Value error, ')}.") from error


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The profile {path} cannot be read: {error.strerror}.") from error
    if len(content) > _MOST_BYTES:
        raise ConfigurationError(f"{path} is no profile: it is larger than {_MOST_BYTES:,} bytes.")
    return content


def _over_base(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The file's keys over those of its base. Remarks in the file do not make another revision."""
    name = data["base"]
    base = profiles.PROFILES.get(name) if isinstance(name, str) else None
    if base is None or base.vlm is None:
        known = ", ".join(sorted(one.name for one in profiles.PROFILES.values() if one.vlm))
        raise ConfigurationError(f"{path}: base: there is no profile '{name}' to build on. Known: {known}.")
    own = {key: value for key, value in data.items() if key != "base"}
    said = hashlib.sha256(json.dumps(own, sort_keys=True, default=str).encode()).hexdigest()[:16]
    given = {
        "name": path.stem,
        "title": f"{base.title}, as {path.name} has it",
        "revision": f"{base.revision}+{said}",
    }
    return merged(base.model_dump(mode="json", by_alias=True), given | own)


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """`above` over `below`, table by table; lists and single values are replaced."""
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        both[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both


def _filled(name: str, data: dict[str, Any], content: bytes) -> dict[str, Any]:
    """The file's keys over the defaults. A changed file is another revision: its pages are read again."""
    filled = {
        "name": name,
        "title": name,
        "engine": "vllm",
        "revision": hashlib.sha256(content).hexdigest()[:16],
        "licence": "code and weights; see their publisher",
        "scripts": SCRIPTS,
        "ladder": _LADDER,
        **data,
    }
    given = data.get("vlm", {})
    if not isinstance(given, dict):
        return filled
    model = {"served_name": name, "weights": "", "architecture": "", "pixels": {}, **given}
    if isinstance(model["pixels"], dict):
        model["pixels"] = _PIXELS | model["pixels"]
        filled = _of_pixels(model["pixels"]) | filled
    return {**filled, "vlm": model}


def _of_pixels(pixels: dict[str, Any]) -> dict[str, Any]:
    """How page images are made for a pixel grid; nothing for a wrong one, which is told with its own key."""
    try:
        grid = Pixels.model_validate(pixels)
    except ValidationError:
        return {}
    return {"grid_px": grid.grid_px, "min_pixels": grid.min_pixels, "max_pixels": grid.max_pixels}


def _files(settings: Settings) -> Iterator[Path]:
    """Files of profiles: those that were named first, then those of the home, by name.

    Raises ConfigurationError when a named file or folder is not there.
    """
    for word in filter(None, settings.profiles.split(os.pathsep)):
        place = Path(word).expanduser().absolute()
        if not place.exists():
            raise ConfigurationError(f"PAGEMILL_PROFILES: there is no {place}.")
        yield from sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else (place,)
    yield from sorted((settings.root / "profiles").glob(f"*{SUFFIX}"))
