"""OCR engines. `open_engine` gives the one that a profile names; all speak `models.engine.OcrEngine`."""

from models.engine import OcrEngine
from models.errors import ConfigurationError
from models.profile import Profile
from models.servers import OcrServers
from models.settings import Settings
from tasks.work.serving.endpoints import Endpoints

NO_SERVERS = OcrServers(())


def open_engine(profile: Profile, jobs: int, servers: OcrServers = NO_SERVERS) -> OcrEngine:
    """Start the engine of `profile`; close it after use.

    Engines of our own get `jobs` worker processes of one thread each; a served model is read at `servers`.
    Raises EnvironmentFault (`package-missing`, with what to type) when a package is not installed, and
    ConfigurationError for a scripted engine, which has to be made with its script, and for a served model
    without a server.
    """
    # Each with its libraries, a second of CPU: a run that finds nothing to read needs none of them.
    if profile.engine == "ppocr":
        from tasks.work.engines import ppocr  # noqa: PLC0415

        return ppocr.open_engine(profile, jobs)
    if profile.engine == "rapidocr":
        from tasks.work.engines import rapidocr  # noqa: PLC0415

        return rapidocr.open_engine(profile, jobs)
    if profile.engine == "vllm":
        from tasks.work.engines import vllm  # noqa: PLC0415

        return vllm.open_engine(profile, servers)
    raise ConfigurationError(f"Engine '{profile.engine}' of profile '{profile.name}' is made by its script.")


def servers_for(profile: Profile, settings: Settings) -> OcrServers:
    """The servers that were set, else those that `pagemill serve` runs on this machine for `profile`."""
    return settings.ocr_servers(Endpoints(settings.root / "serve").of(profile.name))
