"""The order and the life of results."""

from __future__ import annotations

import asyncio
import gc
import unittest
import weakref

from nemo_gym.rollout_collection import FirstFinished


class Answer:
    """Something large."""


class FirstFinishedTests(unittest.TestCase):
    def test_gives_results_in_the_order_they_finish_and_keeps_none(self) -> None:
        async def answer(number: int) -> tuple[int, Answer]:
            await asyncio.sleep((3 - number) / 50)
            return number, Answer()

        async def run() -> list[int]:
            numbers: list[int] = []
            left: list[weakref.ref[Answer]] = []
            for task in FirstFinished([asyncio.ensure_future(answer(number)) for number in range(3)]):
                number, large = await task
                numbers.append(number)
                left.append(weakref.ref(large))
                del large, task
                gc.collect()
                self.assertEqual([one() for one in left], [None] * len(left))
            return numbers

        self.assertEqual(asyncio.run(run()), [2, 1, 0])

    def test_raises_what_a_task_raises(self) -> None:
        async def fail() -> None:
            raise ValueError("no")

        async def run() -> None:
            for task in FirstFinished([asyncio.ensure_future(fail())]):
                await task

        with self.assertRaisesRegex(ValueError, "no"):
            asyncio.run(run())

    def test_cancels_what_nobody_can_take_any_more(self) -> None:
        async def run() -> list[bool]:
            tasks = [asyncio.ensure_future(asyncio.sleep(seconds)) for seconds in (0, 60, 60)]
            for task in FirstFinished(tasks):
                await task
                break
            del task
            await asyncio.sleep(0.01)
            return [one.cancelled() for one in tasks]

        self.assertEqual(asyncio.run(run()), [False, True, True])
