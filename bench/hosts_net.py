"""Two hosts on one machine: network namespaces, and a Postgres that they reach by TCP."""

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from db import embedded, migrate
from db.binaries import find_account, find_binaries
from db.engine import Database

_START_S = 60.0


@dataclass(frozen=True, slots=True)
class Host:
    """A network namespace, seen from here at `ours`; its own end of the cable is `theirs`."""

    name: str
    ours: str
    theirs: str
    first: str
    """Where the first host is to be reached from it."""

    def start(
        self, command: Sequence[str], environ: Mapping[str, str], core: int | None, log: Path
    ) -> psutil.Popen:
        """A command there, under that host's name, on one core or on all; its output goes to a file."""
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        rename = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', self.name]
        with log.open("wb") as output:
            whole = ["ip", "netns", "exec", self.name, *rename, *pinned, *command]
            return psutil.Popen(
                whole,
                env=dict(environ),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )


def why_not() -> str:
    """Why there can be no hosts here, if so."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    if missing := [name for name in ("ip", "unshare", "taskset") if shutil.which(name) is None]:
        return f"there is no {', '.join(missing)}"
    probe = f"pm-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode:
        return "network namespaces cannot be made here"
    _run("ip", "netns", "del", probe)
    return ""


@contextmanager
def hosts(number: int) -> Iterator[tuple[Host, ...]]:
    """So many hosts, each with a cable to here, and one from each other to the first."""
    # Others may do the same on this machine.
    mine, net = f"pm{os.getpid()}", f"10.{64 + os.getpid() % 128}"
    made = [
        Host(f"{mine}-{n}", f"{net}.{n}.1", f"{net}.{n}.2", f"{net}.{100 + n}.1" if n > 1 else "127.0.0.1")
        for n in range(1, number + 1)
    ]
    try:
        for host in made:
            _plug_in(host)
        for host in made[1:]:
            _join(made[0], host)
        yield tuple(made)
    finally:
        for host in made:
            subprocess.run(["ip", "netns", "del", host.name], capture_output=True, check=False)


def _plug_in(host: Host) -> None:
    cable = f"c{host.name}"
    _run("ip", "netns", "add", host.name)
    _run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    _run("ip", "addr", "add", f"{host.ours}/24", "dev", cable)
    _run("ip", "link", "set", cable, "up")
    for words in (f"addr add {host.theirs}/24 dev eth0", "link set eth0 up", "link set lo up"):
        _run("ip", "-n", host.name, *words.split())


def _join(first: Host, other: Host) -> None:
    net, wire = other.first.rpartition(".")[0], f"to{other.name[-6:]}"
    _run("ip", "-n", first.name, "link", "add", wire, "type", "veth", "peer", "eth1", "netns", other.name)
    for host, end, address in ((first, wire, f"{net}.1/24"), (other, "eth1", f"{net}.2/24")):
        _run("ip", "-n", host.name, "addr", "add", address, "dev", end)
        _run("ip", "-n", host.name, "link", "set", end, "up")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@dataclass(frozen=True, slots=True)
class Server:
    """A Postgres that asks for a password."""

    port: int
    password: str

    def url(self, address: str) -> str:
        """As a host reaches it at an address."""
        return f"postgresql://postgres:{self.password}@{address}:{self.port}/pagemill"


@contextmanager
def postgres(root: Path, addresses: Sequence[str], port: int) -> Iterator[Server]:
    """One below `root` with pagemill's tables, which listens at these addresses."""
    server = Server(port, secrets.token_hex(8))
    data = root.resolve() / "postgres"
    url = embedded.start(root)
    _furnish(url, server.password)
    embedded.stop(root)
    rules = "".join(f"host all all {address}/24 scram-sha-256\n" for address in addresses)
    (data / "pg_hba.conf").write_text(rules)
    binaries = find_binaries()
    account = find_account(binaries, data)
    told = {"listen_addresses": ",".join(addresses), "port": port, "unix_socket_directories": ""}
    options = [part for name, value in told.items() for part in ("-c", f"{name}={value}")]
    process = subprocess.Popen(
        account.command([binaries / "postgres", "-D", data, *options]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=account.uid if account.drops else None,
    )
    try:
        _wait_for(server.url(addresses[0]))
        yield server
    finally:
        process.terminate()
        process.wait(60)


def _furnish(url: str, password: str) -> None:
    database = Database(url)
    try:
        migrate.upgrade(database.engine)
        with database.begin() as connection:
            connection.exec_driver_sql(f"ALTER ROLE postgres PASSWORD '{password}'")
    finally:
        database.close()


def _wait_for(url: str) -> None:
    until = time.monotonic() + _START_S
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return
