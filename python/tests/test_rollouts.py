"""Rows in, results out, through the code paths of NeMo RL and veRL."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any
from unittest import mock

import aiohttp

from nemo_gym.rollout_collection import READ_AHEAD, RolloutCollectionHelper
from nemo_gym.server_utils import BaseServerConfig, GymRequestError, ServerClient, ServerUnavailableError

from .gym_case import GymCase, free_port, row


def token_items(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in result["response"]["output"] if item.get("generation_token_ids")]


class RolloutTests(GymCase):
    def collect(self, rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        async def run() -> list[tuple[dict[str, Any], dict[str, Any]]]:
            tasks = RolloutCollectionHelper().run_examples(examples=rows, head_server_config=self.head)
            return [await task for task in tasks]

        return asyncio.run(run())

    def failure(self, bad: dict[str, Any]) -> GymRequestError:
        with self.assertRaises(GymRequestError) as caught:
            self.collect([bad])
        return caught.exception

    def test_rows_become_results_with_exact_tokens(self) -> None:
        results = self.collect([row(number, _rowidx=number) for number in range(1, 9)])
        self.assertEqual(sorted(given["_rowidx"] for given, _ in results), list(range(1, 9)))
        for _, result in results:
            self.assertEqual(result["reward"], 1.0)
            seen: list[int] = []
            items = token_items(result)
            self.assertEqual(len(items), 2)
            for item in items:
                self.assertEqual(item["prompt_token_ids"][: len(seen)], seen)
                self.assertEqual(len(item["generation_token_ids"]), len(item["generation_log_probs"]))
                seen = item["prompt_token_ids"] + item["generation_token_ids"]
        self.assertEqual(self.engine.prefix_breaks, 0)

    def test_whole_numbers_are_floats(self) -> None:
        for wanted, reward in ((4, 1.0), (5, 0.0)):
            [(_, result)] = self.collect([row(4, expected=wanted)])
            self.assertEqual(result["reward"], reward)
            self.assertIsInstance(result["reward"], float)
            for item in token_items(result):
                self.assertTrue(all(isinstance(value, float) for value in item["generation_log_probs"]))

    def test_thousands_of_rows_at_once(self) -> None:
        self.engine.seconds = 3.0
        results = self.collect([row(index % 9 + 1, _rowidx=index) for index in range(2000)])
        self.assertEqual({given["_rowidx"] for given, _ in results}, set(range(2000)))
        self.assertTrue(all(result["reward"] == 1.0 for _, result in results))
        self.assertGreater(self.engine.most_open, 1500)

    def test_results_stay_in_the_gym_until_they_are_awaited(self) -> None:
        read = aiohttp.ClientResponse.read
        count = 0

        async def counted(response: aiohttp.ClientResponse) -> bytes:
            nonlocal count
            count += 1
            return await read(response)

        async def run() -> int:
            tasks = RolloutCollectionHelper().run_examples([row(1) for _ in range(READ_AHEAD + 20)], self.head)
            while count < READ_AHEAD:
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)
            self.assertEqual(count, READ_AHEAD)
            return len([await task for task in tasks])

        with mock.patch.object(aiohttp.ClientResponse, "read", counted):
            self.assertEqual(asyncio.run(run()), READ_AHEAD + 20)
        self.assertEqual(count, READ_AHEAD + 20)

    def test_a_bad_row_is_the_rows_fault(self) -> None:
        error = self.failure({**row(1), "responses_create_params": {"input": 7}})
        self.assertEqual(error.status, 422)
        self.assertIn(b"input", error.response_content)
        self.assertEqual(self.failure(row(1, expected="many")).status, 422)  # type: ignore[arg-type]

    def test_a_refusal_of_the_engine_is_the_rows_fault(self) -> None:
        self.engine.fail_with = 400
        error = self.failure(row(1))
        self.assertEqual(error.status, 400)
        self.assertIn("the engine is unwell", str(error))

    def test_errors_survive_pickling(self) -> None:
        error = self.failure({**row(1), "responses_create_params": {"input": 7}})
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.status, copy.response_content, str(copy)), (422, error.response_content, str(error)))
        gone = pickle.loads(pickle.dumps(ServerUnavailableError("gone")))
        self.assertIsInstance(gone, ConnectionError)

    def test_rows_name_their_agent(self) -> None:
        with self.assertRaisesRegex(ValueError, "Row 1 has no agent_ref.name"):
            self.collect([row(1), {"responses_create_params": {"input": "x"}}])
        with self.assertRaisesRegex(KeyError, "no server 'nobody'.*example_session_state_mgmt_simple_agent"):
            self.collect([{**row(1), "agent_ref": {"name": "nobody"}}])

    def test_nobody_at_the_head_address(self) -> None:
        with self.assertRaisesRegex(ServerUnavailableError, "No head server answers"):
            ServerClient.load_from_global_config(BaseServerConfig("127.0.0.1", free_port()))

    def test_tools_and_verifier_can_be_called_by_name(self) -> None:
        async def play() -> float:
            async with ServerClient.load_from_global_config(self.head) as client:
                server = "example_session_state_mgmt_resources_server"
                seeded = await client.post(server, "/seed_session", json=row(3))
                cookies = seeded.cookies
                await client.post(server, "/increment_counter", json={"count": 3}, cookies=cookies)
                answer = {"id": "r", "object": "response", "created_at": 0, "model": "m", "output": []}
                body = {**row(3), "response": {**answer, "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}}
                verified = await client.post(server, "/verify", json=body, cookies=cookies)
                return float((await verified.json())["reward"])

        self.assertEqual(asyncio.run(play()), 1.0)
