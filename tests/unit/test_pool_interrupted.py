import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import os, signal, threading
from contextlib import closing
from tasks.work.pool import WorkerPool
from models.errors import Code

try:
    with closing(WorkerPool(2)) as pool:
        threading.Timer({after}, os.kill, (os.getpid(), signal.SIGINT)).start()
        pool.submit(os.getpid, timeout_s=60, timeout_code=Code.RENDER_TIMEOUT).result()
        threading.Event().wait()
except KeyboardInterrupt:
    print("ended")
"""


@pytest.mark.parametrize("after", [0.05, 0.3])
def test_ctrl_c_while_children_are_started_ends_in_silence(after: float) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(after=after)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)
