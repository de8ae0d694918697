"""GymSpec in the contract of TRL, without TRL."""

from __future__ import annotations

import inspect
import json
from types import SimpleNamespace
from typing import Any
from unittest import TestCase

from nemo_gym.token_sequences import TokenDriftError, TokenSequence, sequences_of
from nemo_gym.trl import GymSpec

from .gym_case import AGENT, GymCase, row

RESOURCES = "example_session_state_mgmt_resources_server"
TRAINER = SimpleNamespace(processing_class=SimpleNamespace(pad_token_id=None, eos_token_id=7))


def item(prompt: list[int], generated: list[int]) -> dict[str, Any]:
    return {"prompt_token_ids": prompt, "generation_token_ids": generated, "generation_log_probs": [-1 for _ in generated]}


def result(*items: dict[str, Any]) -> dict[str, Any]:
    return {"response": {"output": [*items, {"type": "message"}]}}


class SequenceTests(TestCase):
    def test_calls_that_continue_each_other_are_one_sequence(self) -> None:
        given = result(item([1, 2], [3]), {"type": "function_call_output"}, item([1, 2, 3, 4], [5, 6]), item([9], []))
        self.assertEqual(sequences_of(given), [TokenSequence([1, 2], [3, 4, 5, 6], [1, 0, 1, 1], [-1.0, 0.0, -1.0, -1.0])])

    def test_drift(self) -> None:
        given = result(item([1, 2], [3]), item([1, 8, 3, 4], [5]))
        self.assertEqual([one.prompt_ids for one in sequences_of(given)], [[1, 2], [1, 8, 3, 4]])
        self.assertEqual([one.prompt_ids for one in sequences_of(given, "truncate")], [[1, 2]])
        with self.assertRaises(TokenDriftError):
            sequences_of(given, "strict")

    def test_lists_of_different_lengths(self) -> None:
        with self.assertRaisesRegex(ValueError, "1 token ids came with 2"):
            sequences_of(result({**item([1], [2]), "generation_log_probs": [0.0, 0.0]}))


class SpecTests(GymCase):
    def spec(self, rows: Any, **rest: Any) -> GymSpec:
        return GymSpec(rows, url=f"http://127.0.0.1:{self.head.port}", **rest)

    @staticmethod
    def prompt(number: int) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"add {number}"}]

    def test_rollout_func_gives_one_completion_for_each_prompt(self) -> None:
        spec = self.spec([row(1), row(2, expected=5)], agent=AGENT)
        prompts = [self.prompt(1), self.prompt(1), self.prompt(2)]
        columns = spec.rollout_func(prompts, TRAINER)
        self.assertEqual(columns["gym_reward"], [1.0, 1.0, 0.0])
        for index in range(3):
            length = len(columns["completion_ids"][index])
            self.assertEqual({len(columns[key][index]) for key in ("completion_ids", "logprobs", "env_mask")}, {length})
            # The model called the tool, read its answer, and said "done".
            self.assertEqual(columns["env_mask"][index][:2], [1, 1])
            self.assertIn(0, columns["env_mask"][index])
            self.assertEqual(bytes(columns["completion_ids"][index][-4:]), b"done")
        [reward] = spec.reward_funcs
        self.assertEqual(reward(completions=[None] * 3, gym_reward=columns["gym_reward"]), [1.0, 1.0, 0.0])
        self.assertEqual(spec.counts, {"rollouts": 3, "failed": 0, "drifted": 0})

    def test_failed_rollouts_are_none_and_masked(self) -> None:
        spec = self.spec([row(1)], agent=AGENT)
        self.engine.fail_with = 400
        columns = spec.rollout_func([self.prompt(1)], TRAINER)
        self.assertEqual((columns["gym_reward"], columns["env_mask"], columns["completion_ids"]), ([None], [[0]], [[7]]))
        self.assertEqual(spec.counts, {"rollouts": 1, "failed": 1, "drifted": 0})

    def test_rows_with_one_prompt_are_refused(self) -> None:
        spec = self.spec([row(1), row(1, expected=9)], agent=AGENT)
        with self.assertRaisesRegex(ValueError, "Two rows have the same prompt"):
            spec.rollout_func([self.prompt(1)], TRAINER)
        with self.assertRaisesRegex(ValueError, "no rows"):
            self.spec([])
        with self.assertRaisesRegex(ValueError, "Give the url"):
            GymSpec([row(1)])

    def test_environments_are_sessions_with_tools(self) -> None:
        spec = self.spec([row(3), row(4)], resources_server=RESOURCES)
        first, second = spec.environment_factory(), spec.environment_factory()
        first.reset(gym_row=json.dumps(row(3)), prompt="ignored")
        second.reset(gym_row=json.dumps(row(4)))
        tool: Any = first
        signature = inspect.signature(tool.increment_counter)
        self.assertEqual([(name, one.annotation) for name, one in signature.parameters.items()], [("count", int)])
        self.assertIn("Args:\n    count:", tool.increment_counter.__doc__)
        tool.increment_counter(count=3)
        self.assertIn("detail", tool.increment_counter(count="many"))
        said = [{"role": "assistant", "content": "done"}]
        [reward] = spec.reward_funcs
        self.assertEqual(reward(completions=[said, said], environments=[first, second]), [1.0, 0.0])
        second.reset(gym_row=json.dumps({**row(4), "expected_count": "many"}))
        self.assertEqual(reward(completions=[said], environments=[second]), [None])

    def test_rows_without_tools_get_those_of_the_server(self) -> None:
        bare = row(3)
        del bare["responses_create_params"]["tools"]
        environment: Any = self.spec([bare], resources_server=RESOURCES).environment_factory()
        environment.reset(gym_row=json.dumps(bare))
        environment.increment_counter(count=3)
        self.assertEqual(json.loads(environment.get_counter_value())["count"], 3)
        bare["responses_create_params"]["tools"] = []
        with self.assertLogs("nemo_gym.trl", "WARNING") as logs:
            self.spec([bare], resources_server=RESOURCES).environment_factory
        self.assertIn("the model gets none", logs.output[0])

    def test_the_dataset_carries_rows_as_text(self) -> None:
        try:
            import datasets  # noqa: F401
        except ImportError:
            self.skipTest("datasets is not installed")
        dataset = self.spec([row(1)], agent=AGENT).train_dataset
        self.assertEqual(json.loads(dataset[0]["gym_row"]), row(1))
