"""Runs the gym of this checkout with an engine for tests of the package."""

from __future__ import annotations

import socket
import unittest
from pathlib import Path
from typing import Any

from nemo_gym.cli import GlobalConfigDictParserConfig, RunHelper
from nemo_gym.server_utils import BaseServerConfig

from .engine import Engine

CHECKOUT = Path(__file__).resolve().parents[2]
AGENT = "example_session_state_mgmt_simple_agent"
TOOLS = [
    {
        "type": "function",
        "name": "increment_counter",
        "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
        "strict": True,
    }
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def row(number: int, expected: int | None = None, **rest: Any) -> dict[str, Any]:
    """Asks for `number` more on the counter; `expected` is what the verifier wants."""
    return {
        "responses_create_params": {"input": [{"role": "user", "content": f"add {number}"}], "tools": TOOLS},
        "initial_count": 0,
        "expected_count": number if expected is None else expected,
        "agent_ref": {"type": "responses_api_agents", "name": AGENT},
        **rest,
    }


def config(engine_url: Any, head_port: int, **rest: Any) -> dict[str, Any]:
    return {
        "config_paths": [
            "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
            "resources_servers/example_session_state_mgmt/configs/example_session_state_mgmt.yaml",
        ],
        "policy_base_url": engine_url,
        "policy_api_key": "dummy_key",
        "policy_model_name": "policy",
        "head_server": {"host": "0.0.0.0", "port": head_port},
        **rest,
    }


def parsed(values: dict[str, Any], **rest: Any) -> GlobalConfigDictParserConfig:
    return GlobalConfigDictParserConfig(initial_global_config_dict=values, skip_load_from_cli=True, **rest)


class GymCase(unittest.TestCase):
    """A run with an engine, shared by the tests of a class."""

    engine: Engine
    helper: RunHelper
    head: BaseServerConfig

    @classmethod
    def setUpClass(cls) -> None:
        cls.engine = Engine()
        cls.addClassCleanup(cls.engine.close)
        port = free_port()
        cls.helper = RunHelper()
        cls.helper.start(parsed(config([cls.engine.url], port)))
        cls.addClassCleanup(cls.helper.shutdown)
        cls.head = BaseServerConfig(host="127.0.0.1", port=port)

    def setUp(self) -> None:
        self.engine.fail_with, self.engine.seconds = None, 0.0
