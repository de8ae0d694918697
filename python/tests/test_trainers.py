"""What NeMo RL and veRL do with the package: the config they inject, the results they read, the failures they tell apart."""

from __future__ import annotations

import asyncio
import pickle
import threading
import unittest
from pathlib import Path
from typing import Any

from nemo_gym.cli import GlobalConfigDictParserConfig, RunHelper
from nemo_gym.rollout_collection import RolloutCollectionHelper
from nemo_gym.server_utils import HEAD_SERVER_KEY_NAME, BaseServerConfig

from .engine import Engine
from .gym_case import config, free_port, row

Result = tuple[dict[str, Any], dict[str, Any]]


class TrainerTests(unittest.TestCase):
    """A gym with two replicas of the policy, started as the trainers do."""

    engines: list[Engine]
    helper: RunHelper

    @classmethod
    def setUpClass(cls) -> None:
        cls.engines = [Engine(), Engine()]
        for engine in cls.engines:
            cls.addClassCleanup(engine.close)
        port = free_port()
        values = config([engine.url for engine in cls.engines], port)
        model = {"uses_reasoning_parser": False, "extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
        # One attempt, so that failures show at once.
        values["policy_model"] = {"responses_api_models": {"vllm_model": {**model, "retry_attempts": 1}}}
        values.update(
            default_host="127.0.0.1",
            port_range_low=15_000,
            port_range_high=15_999,
            global_aiohttp_connector_limit_per_host=16_384,
            global_aiohttp_connector_limit=65_536,
            ray_head_node_address="127.0.0.1:6379",
            uv_venv_dir="/nowhere",
            skip_venv_if_present=True,
        )
        values[HEAD_SERVER_KEY_NAME] = {"host": "0.0.0.0", "port": port}
        cls.helper = RunHelper()
        cls.helper.start(
            global_config_dict_parser_config=GlobalConfigDictParserConfig(
                dotenv_path=Path("/nowhere/nemo_gym_env.yaml"), initial_global_config_dict=values, skip_load_from_cli=True
            )
        )
        cls.addClassCleanup(cls.helper.shutdown)
        cls.head = BaseServerConfig(host="127.0.0.1", port=port)
        cls.rollouts = RolloutCollectionHelper()

    def setUp(self) -> None:
        self.fail_with(None)

    def fail_with(self, status: int | None) -> None:
        for engine in self.engines:
            engine.fail_with = status

    async def collect(self, rows: list[dict[str, Any]]) -> list[Result]:
        return [await task for task in self.rollouts.run_examples(examples=rows, head_server_config=self.head)]

    @staticmethod
    def rows(count: int) -> list[dict[str, Any]]:
        made = [row(index % 9 + 1, _rowidx=index, _ng_task_index=index) for index in range(count)]
        for one in made:
            one["responses_create_params"].update(temperature=1.0, top_p=1.0, max_output_tokens=64)
        return made

    def test_results_hold_what_trainers_read(self) -> None:
        results = asyncio.run(self.collect(self.rows(32)))
        self.assertEqual(sorted(given["_rowidx"] for given, _ in results), list(range(32)))
        for given, result in results:
            self.assertIsInstance(result["reward"], float)
            self.assertEqual(result["responses_create_params"]["input"][0]["content"], f"add {given['expected_count']}")
            numbers = {key for key, value in result.items() if isinstance(value, (bool, int, float))}
            # Each becomes a metric of the agent, and the keys of the first result count for all.
            self.assertEqual(numbers - {"_ng_task_index", "_rowidx"}, {"reward", "mask_sample"})
            seen: list[int] = []
            for item in result["response"]["output"]:
                if "generation_token_ids" not in item:
                    continue
                self.assertEqual(item["prompt_token_ids"][: len(seen)], seen)
                self.assertGreater(len(item["generation_token_ids"]), 0)
                self.assertEqual(len(item["generation_token_ids"]), len(item["generation_log_probs"]))
                seen = item["prompt_token_ids"] + item["generation_token_ids"]
            self.assertTrue(seen)

    def test_a_rollout_stays_with_its_replica_and_settings_reach_it(self) -> None:
        for engine in self.engines:
            engine.requests.clear()
        asyncio.run(self.collect(self.rows(32)))
        for engine in self.engines:
            self.assertGreater(len(engine.requests), 0)
            firsts = [body for body in engine.requests if len(body["messages"]) == 1]
            # Two calls a rollout, both to the same engine.
            self.assertEqual(len(engine.requests), 2 * len(firsts))
            self.assertEqual(firsts[0]["chat_template_kwargs"], {"enable_thinking": False})
            self.assertEqual((firsts[0]["temperature"], firsts[0]["max_tokens"], firsts[0]["logprobs"]), (1.0, 64, True))

    def test_statuses_tell_infrastructure_from_data(self) -> None:
        for status in (503, 429, 500, 404, 400):
            self.fail_with(status)
            with self.assertRaises(Exception) as caught:
                asyncio.run(self.collect(self.rows(1)))
            error: Any = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual(error.status, status)
            self.assertIn(b"the engine is unwell", error.response_content)

    def test_a_batch_that_was_given_up_leaves_nothing_behind(self) -> None:
        """veRL awaits results on an event loop of another thread, and one bad row ends its batch."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()

        def collect(rows: list[dict[str, Any]]) -> list[Result]:
            return asyncio.run_coroutine_threadsafe(self.collect(rows), loop).result(60)

        try:
            bad = {**self.rows(1)[0], "expected_count": "many"}
            with self.assertRaisesRegex(Exception, "expected_count"):
                collect([bad, *self.rows(100)])
            self.assertEqual(len(collect(self.rows(100))), 100)
            left = asyncio.run_coroutine_threadsafe(self.tasks(), loop).result(60)
            self.assertEqual(left, 0)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    @staticmethod
    async def tasks() -> int:
        await asyncio.sleep(0.2)
        return len(asyncio.all_tasks()) - 1
