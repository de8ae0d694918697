"""The measurement of many open rollouts in small: nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

from .gym_case import CHECKOUT, free_port

ROLLOUTS = 300


class LoadTests(unittest.TestCase):
    def test_long_answers_to_many_open_rollouts_all_arrive(self) -> None:
        measured = subprocess.run(
            [
                sys.executable, "bench/open_rollouts.py", "--rollouts", str(ROLLOUTS), "--hold", "2", "--spread", "0.2",
                "--tokens", "32000", "--head-port", str(free_port()),
            ],  # fmt: skip
            cwd=CHECKOUT / "python",
            env={"PYTHONPATH": str(CHECKOUT / "python"), **os.environ},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(measured.returncode, 0, measured.stderr[-2000:])
        outcome = json.loads(measured.stdout)
        self.assertEqual((outcome["whole"], outcome["failed"], outcome["lost"]), (ROLLOUTS, 0, 0))
