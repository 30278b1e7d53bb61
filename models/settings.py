"""Settings: the only global state. Read once from the environment, PAGEMILL_… names."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from models.errors import ConfigurationError
from models.servers import OcrServers, urls_of
from models.stage import Stage


class RetryPolicy(BaseModel):
    """How often and how soon a stage tries again after a transient error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    attempts: int = Field(4, ge=1, le=20, description="tries in all")
    delay_s: float = Field(2.0, ge=0, description="seconds before the second try")
    factor: float = Field(3.0, ge=1, le=100, description="growth of the delay from try to try")
    most_s: float = Field(300.0, ge=0, description="longest delay, before jitter")
    jitter: float = Field(0.3, ge=0, le=1, description="random share added to or taken from a delay")

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds to wait after failed try `attempt` (from 1); `chance` is a random number from 0 to 1."""
        grown = min(self.delay_s * self.factor ** (attempt - 1), self.most_s)
        return grown * (1 + self.jitter * (2 * chance - 1))


class RetrySettings(BaseModel):
    """Retry policies by stage, e.g. PAGEMILL_RETRY__OCR__ATTEMPTS=6."""

    model_config = ConfigDict(extra="forbid")

    split: RetryPolicy = RetryPolicy()
    preprocess: RetryPolicy = RetryPolicy()
    ocr: RetryPolicy = RetryPolicy()
    load: RetryPolicy = RetryPolicy()

    def of(self, stage: Stage) -> RetryPolicy:
        """The policy of a stage; register and validate have none of their own and use split's and ocr's."""
        policy: RetryPolicy = getattr(
            self, {Stage.REGISTER: "split", Stage.VALIDATE: "ocr"}.get(stage, stage.value)
        )
        return policy


class Settings(BaseSettings):
    """Everything that can be set. Every field is an environment variable PAGEMILL_<FIELD>; empty: not set."""

    model_config = SettingsConfigDict(
        env_prefix="PAGEMILL_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        allow_inf_nan=False,
    )

    home: Path = Path("~/.local/share/pagemill")
    """Where the embedded Postgres, the store and the logs live."""
    database_url: SecretStr | None = None
    """Your own Postgres, e.g. postgresql://user@host/pagemill. Empty: the embedded one."""
    postgres_bin: Path | None = None
    """Folder with other Postgres programs (initdb, postgres) for the embedded server than the wheel's."""
    profile: str = "ppocr"
    """Profile used when none is named."""
    profiles: str = ""
    """Files of profiles, or folders with such, split as the PATH is."""
    accept_licences: str = ""
    """Names of profiles whose terms are agreed to, e.g. chandra chandra-2."""
    jobs: int = Field(
        default_factory=lambda: (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
        ge=1,
        le=1024,
    )
    """Worker processes per CPU pool."""
    split_timeout_s: float = Field(120.0, gt=0)
    """Most seconds to read the structure of a document's next 64 pages."""
    render_timeout_s: float = Field(30.0, gt=0)
    """Most seconds to render one page."""
    lease_s: float = Field(120.0, gt=1)
    """A claim that is not renewed for so long is free for others."""
    max_crashes: int = Field(3, ge=1)
    """A page in flight at so many worker deaths is quarantined."""
    ocr_url: str = ""
    """Servers that speak the OpenAI API, comma-separated, e.g. http://127.0.0.1:8000,http://gpu2:8000."""
    ocr_api_key: SecretStr | None = None
    """Sent to the servers of ocr_url; asked of clients by `pagemill serve`."""
    ocr_wait_s: float = Field(600.0, ge=0)
    """Pages wait so long for an OCR server that is away; then they fail and a later run takes them up."""
    ocr_in_flight: int | None = Field(None, ge=1)
    """Requests to each OCR server at once; empty: steered by the server's own metrics."""
    ocr_golden: bool = True
    """A server of ocr_url gets pages only once it has read golden pages well."""
    vllm_python: Path | None = None
    """Python of the environment that vLLM is installed in, for `pagemill serve`."""
    settle_s: float = Field(10.0, ge=0, le=86_400)
    """A scheduled scan takes a file that was not changed for so long; `pagemill ingest` takes it at once."""
    gone_share: float = Field(0.5, ge=0, le=1)
    """A scan stops where a larger share of a root's known files is gone; 1 lets all go."""
    copies_gib: float = Field(4.0, gt=0)
    """Most disk space for local copies of remote files, in each process that reads some."""
    prefetch_gib: float = Field(8.0, gt=0)
    """Page images that are made and not read yet take about so much; beyond, drawing waits for reading."""
    password_file: Path | None = None
    """One password a line; each is tried on a PDF that needs one."""
    prefect_auth: SecretStr | None = None
    """name:secret that the Prefect server of `pagemill up` asks of everyone."""
    vectors: bool = True
    """Store and search embedding vectors where pgvector is there."""
    retry: RetrySettings = RetrySettings()

    @field_validator("home")
    @classmethod
    def _is_somewhere(cls, home: Path) -> Path:
        try:
            home.expanduser()
        except RuntimeError as error:
            raise ValueError(f"there is no home folder {home.parts[0]}") from error
        return home

    @field_validator("ocr_url")
    @classmethod
    def _are_urls(cls, text: str) -> str:
        urls_of(text)
        return text

    def ocr_servers(self, found: tuple[str, ...] = ()) -> OcrServers:
        """The servers to read with: those that were set, else those `found` on this machine.

        Those that were found have read golden pages for who looks after them.
        """
        key = self.ocr_api_key.get_secret_value() if self.ocr_api_key else ""
        urls = urls_of(self.ocr_url)
        golden = self.root if urls and self.ocr_golden else None
        return OcrServers(urls or found, key, self.ocr_wait_s, self.ocr_in_flight, golden)

    @property
    def root(self) -> Path:
        """`home`, expanded and absolute."""
        return self.home.expanduser().absolute()

    @property
    def store(self) -> Path:
        """Root of the content-addressed store."""
        return self.root / "store"


@cache
def get_settings() -> Settings:
    """The settings of this process. Raises ConfigurationError with the variable's name."""
    return load_settings()


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment with overrides, not remembered. Raises ConfigurationError."""
    try:
        return Settings(**overrides)
    except SettingsError as error:
        # Only nested settings are parsed before they are validated, and these are the only ones.
        raise ConfigurationError(
            "PAGEMILL_RETRY: this is no JSON. Set single values, e.g. PAGEMILL_RETRY__OCR__ATTEMPTS=6."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = "PAGEMILL_" + "__".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(f"{name}: {first['msg'].removeprefix('Value error, ')}.") from error
