"""The gym as a child process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from unittest import mock

from nemo_gym import PARENT_DIR
from nemo_gym.cli import GlobalConfigDictParserConfig, GymProcessError, RunHelper
from nemo_gym.cli.run_helper import _node_options
from nemo_gym.server_utils import BaseServerConfig, ServerClient

from .engine import Engine
from .gym_case import CHECKOUT, config, free_port, parsed


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def eventually(check: object, seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if check():  # type: ignore[operator]
            return True
        time.sleep(0.1)
    return False


class HeapTests(unittest.TestCase):
    def test_the_heap_may_take_half_of_the_memory_unless_the_user_says_otherwise(self) -> None:
        with mock.patch.dict(os.environ, NODE_OPTIONS="--trace-warnings"):
            option, limit = _node_options().split(" --max-old-space-size=")
        self.assertEqual(option, "--trace-warnings")
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.assertTrue(0 < int(limit) <= machine // 2**21)
        with mock.patch.dict(os.environ, NODE_OPTIONS="--max-old-space-size=100"):
            self.assertEqual(_node_options(), "--max-old-space-size=100")


class RunHelperTests(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = Engine()
        self.addCleanup(self.engine.close)
        self.port = free_port()
        self.helper = RunHelper()
        self.addCleanup(self.helper.shutdown)

    def test_starts_polls_and_stops(self) -> None:
        self.helper.start(parsed(config(self.engine.url, self.port)))
        self.helper.poll()
        self.assertTrue(answers(self.port))
        with self.assertRaisesRegex(RuntimeError, "already started"):
            self.helper.start(parsed(config(self.engine.url, self.port)))
        self.helper.shutdown()
        self.assertFalse(answers(self.port))
        with self.assertRaisesRegex(RuntimeError, "not started"):
            self.helper.poll()
        self.helper.shutdown()

    def test_the_command_may_name_node(self) -> None:
        # Node 20 reads `--env-file` behind the script too.
        with mock.patch.dict(os.environ, NEMO_GYM_COMMAND=f"node '{CHECKOUT}/bin/gym.js'"):
            self.helper.start(parsed(config(self.engine.url, self.port)))
        self.assertTrue(answers(self.port))

    def test_the_example_of_the_readme(self) -> None:
        text = (CHECKOUT / "python" / "README.md").read_text(encoding="utf-8")
        program = text.partition("```python\n")[2].partition("```")[0]
        self.assertIn("http://127.0.0.1:8000/v1", program)
        program = program.replace("http://127.0.0.1:8000/v1", self.engine.url).replace("11000", str(self.port))
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "python")},
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(line.split()[0] for line in done.stdout.splitlines()), list("01234"))

    def test_a_dead_gym_is_reported_with_its_last_lines(self) -> None:
        self.helper.start(parsed(config(self.engine.url, self.port)))
        assert self.helper._process is not None
        self.helper._process.kill()
        self.helper._process.wait()
        with self.assertRaises(GymProcessError) as caught:
            self.helper.poll()
        self.assertEqual(caught.exception.returncode, -signal.SIGKILL)

    def test_a_bad_config_fails_with_the_reason(self) -> None:
        values = config(self.engine.url, self.port, config_paths=["resources_servers/nowhere/configs/nowhere.yaml"])
        with self.assertRaisesRegex(GymProcessError, "nowhere.yaml"):
            self.helper.start(parsed(values))
        self.assertIsNone(self.helper._folder)

    def test_the_trainer_outranks_files_and_env_yaml_is_not_read(self) -> None:
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "env.yaml").write_text("policy_model_name: from_env_yaml\n")
            dotenv = Path(folder, "defaults.yaml")
            dotenv.write_text("policy_model_name: from_defaults\nuser_note: kept\n")
            values = config(
                self.engine.url,
                self.port,
                policy_model={"responses_api_models": {"vllm_model": {"uses_reasoning_parser": False}}},
            )
            os.chdir(folder)
            try:
                self.helper.start(parsed(values, dotenv_path=dotenv))
            finally:
                os.chdir(before)
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("PyYAML is not installed")
        seen = ServerClient.load_from_global_config(BaseServerConfig("127.0.0.1", self.port)).global_config_dict
        self.assertEqual((seen["policy_model_name"], seen["user_note"]), ("policy", "kept"))
        model = seen["policy_model"]["responses_api_models"]["vllm_model"]
        self.assertEqual((model["uses_reasoning_parser"], model["model"]), (False, "policy"))

    def test_config_paths_below_this_package_are_the_gyms(self) -> None:
        values = config(self.engine.url, self.port)
        values["config_paths"] = [str(PARENT_DIR / path) for path in values["config_paths"]]
        self.helper.start(parsed(values))
        self.assertTrue(answers(self.port))

    def test_omegaconf_is_taken(self) -> None:
        try:
            from omegaconf import DictConfig
        except ImportError:
            self.skipTest("omegaconf is not installed")
        values = DictConfig({**config(self.engine.url, self.port), "policy_model_name": "${user_name}", "user_name": "policy"})
        self.helper.start(
            global_config_dict_parser_config=GlobalConfigDictParserConfig(
                initial_global_config_dict=values, skip_load_from_cli=True
            )
        )

    def test_ends_with_a_parent_that_is_killed(self) -> None:
        script = (
            "import os, time, multiprocessing, sys\n"
            "from tests.gym_case import *\n"
            "from nemo_gym.cli import RunHelper\n"
            "RunHelper.start(helper := RunHelper(), parsed(config(sys.argv[1], int(sys.argv[2]))))\n"
            "multiprocessing.get_context('fork').Process(target=time.sleep, args=(300,), daemon=False).start()\n"
            "print('up', flush=True)\n"
            "time.sleep(300)\n"
        )
        parent = subprocess.Popen(
            [sys.executable, "-c", script, self.engine.url, str(self.port)],
            cwd=CHECKOUT / "python",
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert parent.stdout is not None
        try:
            self.assertEqual(parent.stdout.readline().strip(), "up")
            self.assertTrue(answers(self.port))
            parent.kill()
            parent.wait()
            # The forked child still lives; it must not keep the gym.
            self.assertTrue(eventually(lambda: not answers(self.port)))
        finally:
            parent.stdout.close()
            os.killpg(parent.pid, signal.SIGKILL)
