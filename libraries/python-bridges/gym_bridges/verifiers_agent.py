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
        given = own.get("vf_env_args") or {}
        config = environment_config({**given, "taskset": {**given.get("taskset", {}), "id": own["vf_env_id"]}})
        self.scored_agent = scored_agent(config, own.get("scored_agent"))
        self.env = vf.load_environment(config)
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
        traces = [each for each in episode.traces if each.agent.name == self.scored_agent]
        if not traces or not episode.ok:
            return {**row, **failure(episode, self.scored_agent)}
        # Reward and conversation are those of one trace, so that they can be trained on together.
        trace = traces[-1]
        usage = await counted_usage(origin, prefix)
        identifier = f"verifiers-{own['vf_env_id']}-{index}"
        prompt, output = conversation(identifier, trace)
        tools = [tool_of(each) for each in trace.tools]
        result = {
            **row,
            "responses_create_params": {**params, "input": prompt, **({"tools": tools} if tools else {})},
            "response": response(identifier, model, params, trace, output, tools, usage),
            **scores(trace),
            "env_id": own["vf_env_id"],
            "group_id": str(index),
        }
        others = [each for each in episode.traces if each is not trace]
        return {**result, "other_traces": [other_trace(each) for each in others]} if others else result

    async def answer_responses(self, _):
        raise HttpError(501, "a taskset of verifiers runs whole episodes: post a row to /run")

    def serve(self):
        routes = {"/run": self.answer_run, "/v1/responses": self.answer_responses}
        serve(routes, self.run, start=self.env.serving())


def environment_config(settings):
    """Agents without a program of their own chat, and all run as local processes, unless `vf_env_args` says otherwise."""
    config = vf.resolve_env_config(settings)
    agents = {}
    for name, default in roles(config).items():
        chosen = settings.get(name) or {}
        program = {} if default.harness is not None else {"harness": {"id": "null"}}
        agents[name] = {"runtime": {"type": "subprocess"}, **program, **chosen}
    return vf.resolve_env_config({**settings, **agents})


def roles(config):
    """The agents that an environment declares, in its order."""
    fields = type(config).model_fields.items()
    return {name: field.default for name, field in fields if isinstance(field.default, vf.AgentConfig)}


def scored_agent(config, name):
    names = list(roles(config))
    if name is not None and name not in names:
        raise SystemExit(f"scored_agent: the environment has the agents {', '.join(names)}, not '{name}'")
    return name or names[0]


def failure(episode, agent):
    """An episode that broke says nothing about the model: it is a failure, not a reward."""
    errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
    message = errors[-1].message if errors else f"the episode ended without a result of the agent '{agent}'"
    return {"reward": 0.0, "_ng_failure_class": "agent_error", "error": message}


def scores(trace):
    return {
        "reward": trace.reward,
        "metrics": {name: value for name, value in trace.metrics.items() if value is not None},
        "rewards": {name: reward.value for name, reward in trace.rewards.items() if reward is not None},
    }


def other_trace(trace):
    prompt, output = conversation(trace.agent.name, trace)
    return {"agent": trace.agent.name, **scores(trace), "input": prompt, "output": output}


async def counted_usage(origin, prefix):
    if prefix == "":
        return None
    reply = await asyncio.to_thread(post, f"{origin}{prefix}/rollout_usage", {})
    return reply.get("usage")


def response(identifier, model, params, trace, output, tools, usage):
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
        "output": output,
        "parallel_tool_calls": params.get("parallel_tool_calls", True),
        "tool_choice": params.get("tool_choice", "auto"),
        "tools": tools,
        "status": "incomplete" if trace.is_truncated else "completed",
        "incomplete_details": {"reason": trace.stop_condition or "length"} if trace.is_truncated else None,
        "usage": usage,
    }


def conversation(identifier, trace):
    """What the model was asked before its first answer, and everything since, as items of the Responses API."""
    prompt, output = [], []
    for number, node in enumerate(trace.branches[-1].nodes if trace.branches else []):
        found = items(f"{identifier}_{number}", node.message)
        if node.sampled:
            output.extend(found)
        elif not output:
            prompt.extend(found)
        elif node.message.role != "assistant":
            # An answer that the model did not give is no output of it.
            output.extend(found)
    return prompt, output


def items(identifier, message):
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": content_of(message.content)}
        return
    if message.role != "assistant":
        yield {"type": "message", "role": message.role, "content": content_of(message.content)}
        return
    if message.reasoning_content:
        summary = [{"type": "summary_text", "text": message.reasoning_content}]
        yield {"type": "reasoning", "id": f"rs_{identifier}", "summary": summary}
    for call in message.tool_calls or []:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
    if message.content or not message.tool_calls:
        yield {
            "type": "message",
            "id": f"msg_{identifier}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": message.content or "", "annotations": []}],
        }


def content_of(content):
    """Text as it is; texts and images as parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return [part_of(part) for part in content]


def part_of(part):
    if part.type == "image_url":
        return {"type": "input_image", "image_url": part.image_url.url, "detail": "auto"}
    return {"type": "input_text", "text": part.text}


def tool_of(tool):
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": bool(tool.strict),
    }


def main():
    # The library starts its programs with uv, which is installed beside this Python.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    VerifiersAgent().serve()
