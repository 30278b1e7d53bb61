"""An S3-compatible server on this machine: moto's, over real HTTP."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import fsspec
import pytest

from bench.served import free_port

_PATIENCE_S = 60.0


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty store."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


@contextmanager
def account(url: str) -> Iterator[fsspec.AbstractFileSystem]:
    """What `pagemill` would be told of the store by its environment; gives a file system to fill it with."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", url)
        environment.setenv("AWS_ACCESS_KEY_ID", "somebody")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "something")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        system = fsspec.get_filesystem_class("s3")
        system.clear_instance_cache()
        yield system(use_listings_cache=False)
        system.clear_instance_cache()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/moto-api/", timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the S3 server did not start")
