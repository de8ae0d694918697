"""A small taskset of verifiers: sums, scored by the last number of the answer."""

import re

import verifiers.v1 as vf


class SumData(vf.TaskData):
    answer: int


class SumTask(vf.Task[SumData]):
    @vf.reward
    async def correct(self, trace: vf.Trace) -> float:
        numbers = re.findall(r"-?\d+", trace.last_reply)
        return float(bool(numbers) and int(numbers[-1]) == self.data.answer)


class Sums(vf.Taskset[SumTask]):
    def load(self):
        for left in range(1, 6):
            yield SumTask(SumData(prompt=f"What is {left} + {2 * left}?", answer=3 * left), self.config.task)


__all__ = ["Sums"]
