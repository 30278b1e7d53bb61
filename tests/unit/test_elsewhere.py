"""What only worker processes run: the parent names it, and does without its libraries."""

import pickle
import subprocess
import sys

import pytest

from models.errors import Code
from tasks import ladder, preprocess, split
from tasks.work.elsewhere import Elsewhere
from tasks.work.pool import WorkerPool

_HEAVY = {"pymupdf", "numpy", "py3langid", "jsonschema", "pylatexenc", "alembic", "prefect"}


def named() -> list[Elsewhere]:
    held = [vars(module).values() for module in (ladder, preprocess, split)]
    return [one for values in held for one in values if isinstance(one, Elsewhere)]


def test_every_function_that_is_named_is_there() -> None:
    found = {one.name: one.function for one in named()}
    assert len(found) == 8
    assert all(function.__name__ == name for name, function in found.items())


def test_a_named_function_is_called_as_the_function_itself() -> None:
    join = Elsewhere("os.path", "join")
    assert pickle.loads(pickle.dumps(join)) == join
    assert join("a", "b") == "a/b"


def test_a_name_that_is_nowhere_is_told_when_it_is_called() -> None:
    with pytest.raises(AttributeError):
        Elsewhere("os.path", "nothing")()


@pytest.mark.slow
def test_a_child_calls_a_named_function() -> None:
    pool = WorkerPool(1)
    try:
        done = pool.submit(
            Elsewhere("os.path", "basename"), "/a/b", timeout_s=60, timeout_code=Code.SPLIT_TIMEOUT
        )
        assert done.result(60) == "b"
    finally:
        pool.close()


@pytest.mark.slow
def test_whoever_reads_with_a_server_loads_nothing_that_draws_or_judges_what_is_rare() -> None:
    code = (
        "import sys, flows.local, flows.lines, cli.ingesting, tasks.work.engines.vllm.engine\n"
        f"print(*sorted({_HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
