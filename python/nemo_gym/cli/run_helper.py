"""The servers of a config as a child process, `gym env start`."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Mapping

from nemo_gym.command import gym_command

#: Lines of the child's output that an error quotes.
QUOTED_LINES = 40
#: What the child gets to stop its servers before it is killed.
STOP_SECONDS = 20.0
POLL_SECONDS = 60.0


@dataclass
class GlobalConfigDictParserConfig:
    """Where the config comes from. A trainer gives a dict (or an OmegaConf DictConfig) and a file of defaults below it."""

    dotenv_path: Path | str | None = None
    initial_global_config_dict: Any = None
    skip_load_from_cli: bool = False
    skip_load_from_dotenv: bool = False
    hide_secrets: bool = False
    offline: bool = False


class GymProcessError(RuntimeError):
    """The gym has ended, or could not be started. `lines` are the last lines it wrote."""

    def __init__(self, returncode: int | None, lines: list[str]) -> None:
        super().__init__(returncode, lines)
        self.returncode = returncode
        self.lines = lines

    def __str__(self) -> str:
        quoted = "\n".join(f"  {line}" for line in self.lines)
        return f"NeMo Gym ended with exit code {self.returncode}. Its last lines:\n{quoted}"


class RunHelper:
    """Starts the servers with `start`, raises in `poll` when they have died, stops them with `shutdown`.

    The servers end with this process, however it ends: `gym` stops when its standard input closes.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder: str | None = None
        self._lines: deque[str] = deque(maxlen=QUOTED_LINES)
        self._ready = threading.Event()
        self._readers: list[threading.Thread] = []
        #: The event `ready` of the gym: `head_server` and `servers` with their addresses.
        self.ready_event: dict[str, Any] = {}

    def start(self, global_config_dict_parser_config: GlobalConfigDictParserConfig | None = None) -> None:
        """Starts the servers and returns when all of them answer; raises GymProcessError when one cannot be started."""
        if self._process is not None:
            raise RuntimeError("The servers of this RunHelper are already started.")
        parser = global_config_dict_parser_config or GlobalConfigDictParserConfig()
        self._folder = tempfile.mkdtemp(prefix="nemo-gym-")
        command = [*gym_command(), "env", "start", "--json", "--exit-with-parent", "--env-yaml", "none"]
        if parser.dotenv_path is not None and not parser.skip_load_from_dotenv and Path(parser.dotenv_path).exists():
            command += ["--config", str(parser.dotenv_path)]
        config = _plain(parser.initial_global_config_dict)
        if config:
            # JSON is YAML, and no library is needed to write it.
            path = Path(self._folder, "trainer.yaml")
            path.write_text(json.dumps(_with_gym_paths(config), indent=2, default=str), encoding="utf-8")
            path.chmod(0o600)
            command += ["--config", str(path)]
        if not parser.skip_load_from_cli:
            command += sys.argv[1:]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env={**os.environ, "NODE_OPTIONS": _node_options()},
        )
        _running.add(self)
        for stream, read in ((self._process.stdout, self._read_event), (self._process.stderr, self._read_text)):
            assert stream is not None
            reader = threading.Thread(target=self._read, args=(stream, read), daemon=True, name="nemo-gym-log")
            reader.start()
            self._readers.append(reader)
        try:
            self._wait_until_ready()
        except BaseException:
            self.shutdown()
            raise

    def _wait_until_ready(self) -> None:
        while not self._ready.wait(0.05):
            self.poll()

    def poll(self) -> None:
        """Raises GymProcessError with the last lines of the gym if it is no longer running."""
        process = self._process
        if process is None:
            raise RuntimeError("The servers were not started.")
        if process.poll() is None:
            return
        for reader in self._readers:
            reader.join(timeout=2)
        raise GymProcessError(process.returncode, list(self._lines))

    def run_forever(self) -> None:
        """Waits until the gym ends or Ctrl-C, checking once a minute."""
        try:
            while True:
                self.poll()
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()

    def shutdown(self) -> None:
        """Stops the servers: asks, waits, kills what is left. Safe to call twice."""
        process, self._process = self._process, None
        _running.discard(self)
        if process is not None:
            _stop(process)
            for reader in self._readers:
                reader.join(timeout=2)
            for stream in (process.stdin, process.stdout, process.stderr):
                _close(stream)
        self._readers = []
        self._ready.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _read(self, stream: IO[str], handle: Any) -> None:
        try:
            for line in stream:
                handle(line.rstrip("\n"))
        except ValueError:
            pass  # The stream was closed by shutdown.

    def _read_event(self, line: str) -> None:
        try:
            event = json.loads(line)
            kind = event["event"]
        except (ValueError, TypeError, KeyError):
            self._read_text(line)
            return
        if kind == "ready":
            self.ready_event = event
            self._ready.set()
        elif kind == "server-log":
            self._read_text(f"({event.get('server')}) {event.get('line')}")
        elif kind == "server-crashed":
            self._read_text(f"({event.get('server')}) {event.get('message')}")
            for quoted in event.get("last_lines") or []:
                self._lines.append(f"({event.get('server')}) {quoted}")

    def _read_text(self, line: str) -> None:
        self._lines.append(line)
        try:
            print(line, file=sys.stderr, flush=True)
        except (ValueError, OSError):
            pass  # Standard error is closed; `poll` still quotes the line.


def _node_options() -> str:
    """NODE_OPTIONS, and unless it has a limit of its own, half of the memory for the heap of Node, which takes 4 GB at most by itself:
    thousands of rollouts of many turns with their token ids need more."""
    given = os.environ.get("NODE_OPTIONS", "")
    if "max-old-space-size" in given or "max_old_space_size" in given:
        return given
    return f"{given} --max-old-space-size={_memory_bytes() // 2**21}".strip()


def _memory_bytes() -> int:
    """The memory of this machine, or what its container may take of it."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return min(machine, int(Path(limit).read_text()))
        except (OSError, ValueError):
            continue
    return machine


_running: weakref.WeakSet[RunHelper] = weakref.WeakSet()


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    # The group also holds servers that outlived the gym.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _close(stream: IO[str] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:
        pass


@atexit.register
def _stop_all() -> None:
    for helper in list(_running):
        helper.shutdown()


def _release_in_fork() -> None:
    """A forked child must not hold the pipe whose end tells the gym that its parent has ended, nor stop the gym at its exit."""
    for helper in list(_running):
        process = helper._process
        if process is not None and process.stdin is not None:
            os.close(process.stdin.fileno())
        helper._process = helper._folder = None
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_fork)


def _plain(config: Any) -> dict[str, Any]:
    """A dict of plain values; interpolations stay as they are and are resolved by the gym."""
    if config is None:
        return {}
    if not isinstance(config, dict):
        try:
            from omegaconf import OmegaConf

            if OmegaConf.is_config(config):
                config = OmegaConf.to_container(config, resolve=False)
        except ImportError:
            pass
    if not isinstance(config, Mapping):
        raise TypeError(f"The config must be a dict or an OmegaConf DictConfig, not {type(config).__name__}.")
    return {str(key): value for key, value in config.items()}


def _with_gym_paths(config: dict[str, Any]) -> dict[str, Any]:
    """Trainers such as veRL build config paths from the folder of this package; those that are not there are the gym's own."""
    from nemo_gym import PARENT_DIR

    def own(path: Any) -> Any:
        if not isinstance(path, str) or Path(path).exists():
            return path
        try:
            return str(Path(path).relative_to(PARENT_DIR))
        except ValueError:
            return path

    paths = config.get("config_paths")
    if not isinstance(paths, list):
        return config
    return {**config, "config_paths": [own(path) for path in paths]}
