"""An agent server around a taskset of verifiers: the library runs the episode and scores it, the gym provides model and rows."""

import asyncio
import itertools
import os
import sys
import time

import verifiers.v1 as vf

from .server import HttpError, Run, post, rollout_prefix, serve


class VerifiersAgent:
    def __init__(self):
        self.run = Run()
        own = self.run.own
        agent = {"runtime": {"type": "subprocess"}, "harness": {"id": "null"}}
        settings = {"agent": agent, **(own.get("vf_env_args") or {})}
        settings["taskset"] = {**settings.get("taskset", {}), "id": own["vf_env_id"]}
        self.env = vf.load_environment(vf.resolve_env_config(settings))
        self.tasks = iter(self.env.taskset)
        self.loaded = []
        self.slots = asyncio.Semaphore(int(own.get("concurrency") or 8))

    def task(self, index):
        """Tasks are read as far as somebody asks: a taskset may be endless."""
        missing = index + 1 - len(self.loaded)
        if missing > 0:
            self.loaded.extend(itertools.islice(self.tasks, missing))
        if index < 0 or index >= len(self.loaded):
            raise HttpError(422, f"task_idx is {index}, but {self.run.own['vf_env_id']} has {len(self.loaded)} tasks")
        return self.loaded[index]

    async def answer_run(self, row):
        async with self.slots:
            return await self._run(row)

    async def _run(self, row):
        index = row.get("task_idx")
        if not isinstance(index, int):
            raise HttpError(422, "the row has no task_idx: which task of the taskset is it?")
        own, params = self.run.own, row.get("responses_create_params") or {}
        origin = self.run.url(own["model_server"])
        prefix = rollout_prefix(row)
        model = own.get("model_name") or self.run.config.get("policy_model_name") or "gym-policy-model"
        sampling = {
            "temperature": params.get("temperature"),
            "top_p": params.get("top_p"),
            "max_tokens": params.get("max_output_tokens") or own.get("max_tokens"),
        }
        context = vf.ModelContext(
            model=model,
            client=vf.EvalClientConfig(base_url=f"{origin}{prefix}/v1", api_key_var="NEMO_GYM_NO_KEY"),
            sampling=vf.SamplingConfig(**{key: value for key, value in sampling.items() if value is not None}),
        )
        (slot,) = self.env.slots(self.task(index))
        episode = await self.env.run_slot(slot, context)
        trace = episode.traces[-1] if episode.traces else None
        if trace is None or not episode.ok:
            return {**row, **failure(episode, trace)}
        usage = await counted_usage(origin, prefix)
        return {
            **row,
            "response": response(f"verifiers-{own['vf_env_id']}-{index}", model, params, trace, usage),
            "reward": sum(each.reward for each in episode.traces),
            "env_id": own["vf_env_id"],
            "group_id": str(index),
            "metrics": {name: value for name, value in trace.metrics.items() if value is not None},
            "rewards": {name: reward.value for name, reward in trace.rewards.items() if reward is not None},
        }

    async def answer_responses(self, _):
        raise HttpError(501, "a taskset of verifiers runs whole episodes: post a row to /run")

    def serve(self):
        routes = {"/run": self.answer_run, "/v1/responses": self.answer_responses}
        serve(routes, self.run, start=self.env.serving())


def failure(episode, trace):
    """An episode that broke says nothing about the model: it is a failure, not a reward."""
    errors = [*episode.errors, *(trace.errors if trace is not None else [])]
    message = errors[-1].message if errors else "the episode ended without a result"
    return {"reward": 0.0, "_ng_failure_class": "agent_error", "error": message}


async def counted_usage(origin, prefix):
    if prefix == "":
        return None
    reply = await asyncio.to_thread(post, f"{origin}{prefix}/rollout_usage", {})
    return reply.get("usage")


def response(identifier, model, params, trace, usage):
    if usage is None and trace.usage is not None:
        prompt, completion = trace.usage.prompt_tokens, trace.usage.completion_tokens
        usage = {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": None},
            "output_tokens": completion,
            "output_tokens_details": {"reasoning_tokens": None},
            "total_tokens": prompt + completion,
        }
    return {
        "id": identifier,
        "created_at": int(time.time()),
        "model": model,
        "object": "response",
        "output": list(items(identifier, trace)),
        "parallel_tool_calls": params.get("parallel_tool_calls", True),
        "tool_choice": params.get("tool_choice", "auto"),
        "tools": [],
        "status": "incomplete" if trace.is_truncated else "completed",
        "incomplete_details": {"reason": trace.stop_condition or "length"} if trace.is_truncated else None,
        "usage": usage,
    }


def items(identifier, trace):
    """What the model said and what the tools answered, in order; what it was asked first is the task's."""
    said = False
    for number, node in enumerate(trace.branches[-1].nodes if trace.branches else []):
        message = node.message
        if message.role == "assistant" and node.sampled:
            said = True
            if message.reasoning_content:
                summary = [{"type": "summary_text", "text": message.reasoning_content}]
                yield {"type": "reasoning", "id": f"rs_{identifier}_{number}", "summary": summary}
            for call in message.tool_calls or []:
                yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
            if message.content or not message.tool_calls:
                content = [{"type": "output_text", "text": message.content or "", "annotations": []}]
                yield {
                    "type": "message",
                    "id": f"msg_{identifier}_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
        elif message.role == "tool":
            yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": text_of(message.content)}
        elif message.role == "user" and said:
            yield {"type": "message", "role": "user", "content": text_of(message.content)}


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(getattr(part, "text", "") for part in content or [])


def main():
    # The library starts its programs with uv, which is installed beside this Python.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    VerifiersAgent().serve()
