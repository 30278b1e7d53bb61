import platform
import resource
from contextlib import closing

import pytest

from models.errors import Code
from tasks.work.pool import WorkerPool

_PICTURE_BYTES = 8_000_000


def _faults_of_the_second_picture() -> int:
    """How often the kernel had to find memory for one picture, after another had been let go."""
    _ = bytearray(_PICTURE_BYTES)
    del _
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    bytearray(_PICTURE_BYTES)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have no such switch")
def test_a_child_keeps_the_memory_of_a_picture_for_the_next() -> None:
    with closing(WorkerPool(1)) as pool:
        found = pool.submit(_faults_of_the_second_picture, timeout_s=120, timeout_code=Code.RENDER_TIMEOUT)
        assert found.result(300) < _PICTURE_BYTES / resource.getpagesize() / 10
