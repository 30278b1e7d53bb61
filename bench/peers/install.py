"""Install other clients, each into a virtual environment of its own, from PyPI.

    python -m bench.peers.install --envs FOLDER [NAME…]

None of them needs a GPU here: they only talk to a server. docling imports torch all the same; where PyPI's
torch would be a CUDA build of several GB, name a place of CPU builds with PIP_FIND_LINKS or PIP_INDEX_URL.
What cannot be installed is told with pip's reason, and bench.clients has a line for it without figures.
"""

import argparse
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from bench.peers import PEERS, Peer

_INSTALL_S = 1_800.0
REFUSED = "refused.txt"
"""In an environment: why its client is not in it."""


def install(peer: Peer, envs: Path) -> str:
    """Make the environment of a client, unless it is there; why not, or nothing."""
    folder = envs / peer.name
    if peer.version(envs) and not (folder / REFUSED).exists():
        return ""
    venv.create(folder, with_pip=True, clear=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *peer.requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return _refused(folder, f"pip took longer than {_INSTALL_S:g} s")
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return _refused(folder, (said or done.stderr.splitlines() or ["pip failed"])[0])
    return ""


def why_missing(peer: Peer, envs: Path) -> str:
    """Why a client is not below `envs`, as its installation said it."""
    kept = envs / peer.name / REFUSED
    return kept.read_text().strip() if kept.exists() else "not installed: python -m bench.peers.install"


def chosen(names: Sequence[str]) -> tuple[Peer, ...]:
    """The clients of these names, all for none. Raises SystemExit for an unknown one."""
    known = {peer.name: peer for peer in PEERS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"There is no client '{unknown[0]}'. Known: {', '.join(known)}.")
    return tuple(known[name] for name in names) or PEERS


def _refused(folder: Path, why: str) -> str:
    (folder / REFUSED).write_text(f"{why}\n")
    return why


def main() -> int:
    """0 when every client is there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--envs", type=Path, required=True, help="folder of the environments")
    wish = parser.parse_args()
    wish.envs.mkdir(parents=True, exist_ok=True)
    failed = 0
    for peer in chosen(wish.names):
        why = install(peer, wish.envs)
        print(f"{peer.name}: {why or peer.version(wish.envs)}", flush=True)
        failed += bool(why)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
