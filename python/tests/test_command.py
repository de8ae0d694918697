"""Finding the gym command."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import nemo_gym
from nemo_gym.command import GymNotFoundError, gym_command

from .gym_case import CHECKOUT


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class CommandTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, **values: str) -> None:
        patch = mock.patch.dict(os.environ, {**values})
        patch.start()
        self.addCleanup(patch.stop)
        if "NEMO_GYM_COMMAND" not in values:
            os.environ.pop("NEMO_GYM_COMMAND", None)

    def test_the_variable_comes_first(self) -> None:
        self.environment(NEMO_GYM_COMMAND="node '/a b/gym.js'")
        self.assertEqual(gym_command(), ["node", "/a b/gym.js"])

    def test_gym_on_path_unless_it_is_a_python_script(self) -> None:
        python, other = self.folder / "python", self.folder / "other"
        python.mkdir()
        other.mkdir()
        executable(python / "gym", "#!/usr/bin/python3\n")
        found = executable(other / "gym", "#!/bin/sh\nexec node\n")
        self.environment(PATH=f"{python}{os.pathsep}{other}")
        self.assertEqual(gym_command(), [str(found)])

    def test_the_checkout(self) -> None:
        node = executable(self.folder / "node", "#!/bin/sh\n")
        self.environment(PATH=str(self.folder))
        self.assertEqual(gym_command(), [str(node), "--", str(CHECKOUT / "bin" / "gym.js")])

    def test_what_to_do_when_there_is_none(self) -> None:
        self.environment(PATH=str(self.folder))
        with self.assertRaisesRegex(GymNotFoundError, "Node.js .* was not found"):
            gym_command()
        with mock.patch("nemo_gym.command._checkouts", return_value=[]):
            with self.assertRaisesRegex(GymNotFoundError, "Set NEMO_GYM_COMMAND"):
                gym_command()

    def test_the_version_is_that_of_the_gym(self) -> None:
        package = json.loads((CHECKOUT / "package.json").read_text())
        self.assertEqual(nemo_gym.__version__, package["version"])
        self.assertIn(f'version = "{package["version"]}"', (CHECKOUT / "python" / "pyproject.toml").read_text())


class WheelTests(unittest.TestCase):
    """Builds and installs the wheel as `pip install ./python` does."""

    def test_the_wheel_installs_and_its_commands_run_the_checkout(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            venv = Path(folder, "venv")
            made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True)
            if made.returncode != 0:
                self.skipTest(f"python3 -m venv does not work here: {made.stdout}{made.stderr}")
            install = [str(venv / "bin" / "pip"), "install", "-q", "--no-deps", str(CHECKOUT / "python")]
            # Without the network the setuptools that is there must do.
            offline = [*install, "--no-build-isolation"]
            for words in (install, offline):
                done = subprocess.run(words, capture_output=True, text=True)
                if done.returncode == 0:
                    break
            self.assertEqual(done.returncode, 0, done.stderr)
            environment = {key: value for key, value in os.environ.items() if key not in ("NEMO_GYM_COMMAND", "PYTHONPATH")}
            version = subprocess.run(
                [str(venv / "bin" / "gym"), "--version", "--json"], capture_output=True, text=True, env=environment, cwd=folder
            )
            self.assertEqual(version.returncode, 0, version.stderr)
            self.assertEqual(json.loads(version.stdout)["nemo_gym"], nemo_gym.__version__)
            older = subprocess.run(
                [str(venv / "bin" / "ng_version")], capture_output=True, text=True, env=environment, cwd=folder
            )
            self.assertEqual(older.returncode, 0, older.stderr)
            self.assertIn("`ng_version` is deprecated", older.stderr)
            listed = list(venv.glob("lib/python3*/site-packages/nemo_gym/py.typed"))
            self.assertEqual(len(listed), 1)
