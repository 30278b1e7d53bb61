"""An engine made of worker processes, each with the weights of one reader loaded."""

from collections.abc import Mapping
from concurrent.futures import Future
from importlib.util import find_spec

from models.engine import OcrRequest
from models.errors import Code, EngineUnavailable, EnvironmentFault, TransientError
from models.profile import Profile
from models.reading import Reading
from tasks.work.engines.reader import LoadReader, read_page, reader_of
from tasks.work.pool import WorkerPool, pass_cancelling, settle


class WorkerEngine:
    """Speaks OcrEngine with `jobs` workers of one thread. A page that hangs or crashes costs one worker."""

    def __init__(self, profile: Profile, jobs: int, load: LoadReader, facts: Mapping[str, str]) -> None:
        self.name = profile.name
        self.slots = jobs
        self._profile = profile
        self._load = load
        self._facts = dict(facts)
        self._pool = WorkerPool(jobs, initializer=reader_of, initargs=(load,))

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """Read a page in the next free worker; for what the future ends with see OcrEngine."""
        outer: Future[Reading] = Future()
        inner = self._pool.submit(
            read_page,
            self._load,
            request,
            self._profile.scripts,
            timeout_s=self._profile.timeout_s,
            timeout_code=Code.OCR_TIMEOUT,
        )
        pass_cancelling(outer, inner)
        inner.add_done_callback(lambda done: settle(outer, done, _translated))
        return outer

    def facts(self) -> Mapping[str, str]:
        """Versions of the library and its model."""
        return dict(self._facts)

    def close(self) -> None:
        """Kill the workers; pages in flight are cancelled."""
        self._pool.close()


def require(package: str, hint: str) -> None:
    """Raise EnvironmentFault (`package-missing`) with `hint`, what to type, unless `package` is there."""
    if find_spec(package) is None:
        raise EnvironmentFault(f"The package '{package}' is not installed. {hint}", Code.PACKAGE_MISSING)


def _translated(error: BaseException) -> BaseException:
    """A worker's death is the engine's, in the words of the protocol."""
    if isinstance(error, TransientError) and error.code is Code.WORKER_DIED:
        return EngineUnavailable(error.message, error.code)
    return error
