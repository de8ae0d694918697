"""Finds the `gym` command and runs it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

DISTRIBUTION = "nemo-gym"


class GymNotFoundError(FileNotFoundError):
    """There is no `gym` command to run."""


def gym_command() -> list[str]:
    """The words that start `gym`: NEMO_GYM_COMMAND, `gym` on PATH, or bin/gym.js of the checkout this package comes from."""
    given = os.environ.get("NEMO_GYM_COMMAND", "")
    if given.strip():
        return shlex.split(given)
    on_path = _gym_on_path()
    if on_path is not None:
        return [on_path]
    for root in _checkouts():
        script = root / "bin" / "gym.js"
        if script.is_file():
            # Without `--`, Node 20 takes `--env-file`, the older name of `--env-yaml`, for its own flag.
            return [_node(), "--", str(script)]
    raise GymNotFoundError(
        "The gym command was not found. Set NEMO_GYM_COMMAND (for example 'node /path/to/checkout/bin/gym.js'), "
        "put `gym` on PATH (npm install -g nemo-gym), or install this package from a checkout (pip install ./python)."
    )


def _gym_on_path() -> str | None:
    """The first `gym` on PATH that is not a console script of a Python package (this one's, or the original's)."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("gym", path=folder) if folder else None
        if found is not None and not _is_python_script(found):
            return found
    return None


def _is_python_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError:
        return True
    first, _, rest = head.partition(b"\n")
    # Paths longer than the kernel allows stand behind `#!/bin/sh` in the second line.
    return b"python" in first or (first.startswith(b"#!/bin/sh") and b"python" in rest.partition(b"\n")[0])


def _checkouts() -> list[Path]:
    """Where the package lies in an editable install, and where pip says it was installed from."""
    roots = [Path(__file__).resolve().parents[2]]
    try:
        record = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        url = urlparse(json.loads(record)["url"]) if record else None
    except (metadata.PackageNotFoundError, ValueError, KeyError):
        url = None
    if url is not None and url.scheme == "file":
        roots.append(Path(unquote(url.path)).parent)
    return roots


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise GymNotFoundError("Node.js (20.11 or newer) was not found on PATH; the gym command runs on it.")
    return node


def main() -> None:
    """Replaces this process by the `gym` command."""
    _become(sys.argv[1:])


def legacy_main() -> None:
    """The same for an older command such as `ng_run`, whose name becomes the first word."""
    _become([Path(sys.argv[0]).name, *sys.argv[1:]])


def _become(words: list[str]) -> None:
    try:
        command = gym_command()
    except GymNotFoundError as error:
        sys.exit(f"gym: error: {error}")
    os.execvp(command[0], [*command, *words])
