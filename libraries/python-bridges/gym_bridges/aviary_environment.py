"""A resources server around a task dataset of Aviary; `aviary_agent` plays its episodes."""

import importlib
import json
import uuid

from aviary.core import (
    TASK_DATASET_REGISTRY,
    Message,
    TaskDataset,
    ToolCall,
    ToolCallFunction,
    ToolRequestMessage,
    ToolResponseMessage,
)

from .server import HttpError, Run, serve


class Episode:
    def __init__(self, env, tools):
        self.env = env
        self.tools = tools
        self.reward = 0.0


class AviaryEnvironment:
    def __init__(self):
        self.run = Run()
        own = self.run.own
        self.dataset = open_dataset(own["dataset"], own.get("dataset_args") or {})
        self.episodes = {}
        # Verified after the environment is closed.
        self.rewards = {}

    async def seed(self, row):
        index = row.get("task_idx")
        if not isinstance(index, int):
            raise HttpError(422, "the row has no task_idx: which task of the dataset is it?")
        env = self.new_env(index)
        observations, tools = await env.reset()
        env_id = str(uuid.uuid4())
        self.episodes[env_id] = Episode(env, tools)
        self.rewards[env_id] = 0.0
        return {"env_id": env_id, "obs": [item_of(each) for each in observations], "tools": [tool_of(each) for each in tools]}

    def new_env(self, index):
        try:
            return self.dataset.get_new_env_by_idx(index)
        except NotImplementedError:
            return self.dataset.get_new_env()
        except IndexError as error:
            raise HttpError(422, f"task_idx is {index}, but the dataset has {len(self.dataset)} tasks") from error

    async def step(self, body):
        env_id, episode = body.get("env_id"), self.episodes.get(body.get("env_id"))
        if episode is None:
            raise HttpError(500, f"there is no environment {env_id}: it was closed, or never seeded")
        try:
            calls = [call_of(each) for each in body["action"]]
        except ValueError as error:
            text = f"A tool call has arguments that are no JSON object: {error}"
            return {"obs": [{"type": "message", "role": "user", "content": text}], "reward": 0.0, "done": False}
        action = ToolRequestMessage(tool_calls=calls) if calls else Message(role="assistant", content="")
        observations, reward, done, truncated = await episode.env.step(action)
        self.rewards[env_id] += reward
        obs = [item_of(each) for each in observations]
        return {"obs": obs, "reward": reward, "done": bool(done or truncated)}

    async def close(self, body):
        episode = self.episodes.pop(body.get("env_id"), None)
        if episode is None:
            return {"message": "there is no such environment", "success": False}
        await episode.env.close()
        return {"message": "closed", "success": True}

    async def verify(self, body):
        return {**body, "reward": self.rewards.pop(body["response"].get("env_id"), 0.0)}

    def serve(self):
        routes = {"/seed_session": self.seed, "/step": self.step, "/close": self.close, "/verify": self.verify}
        serve(routes, self.run)


def open_dataset(name, settings):
    """A dataset by its registered name, or a class as `package.module:Class`."""
    if ":" not in name:
        if name not in TASK_DATASET_REGISTRY:
            raise SystemExit(f"dataset: Aviary knows {', '.join(TASK_DATASET_REGISTRY)}; name others as module:Class, not '{name}'")
        return TaskDataset.from_name(name, **settings)
    module, attribute = name.split(":")
    return getattr(importlib.import_module(module), attribute)(**settings)


def call_of(item):
    arguments = json.loads(item["arguments"] or "{}")
    if not isinstance(arguments, dict):
        raise ValueError(item["arguments"])
    return ToolCall(id=item["call_id"], function=ToolCallFunction(name=item["name"], arguments=arguments))


def item_of(message):
    if isinstance(message, ToolResponseMessage):
        return {"type": "function_call_output", "call_id": message.tool_call_id, "output": text_of(message)}
    item = {"type": "message", "role": message.role, "content": text_of(message)}
    return {**item, "is_env_state": True} if (message.info or {}).get("is_env_state") else item


def text_of(message):
    content = message.deserialized_content if message.content_is_json_str else message.content
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def tool_of(tool):
    parameters = tool.info.parameters
    schema = parameters.model_dump(exclude_none=True) if parameters else {"type": "object", "properties": {}, "required": []}
    return {
        "type": "function",
        "name": tool.info.name,
        "description": tool.info.description,
        "parameters": {**schema, "additionalProperties": False},
        "strict": True,
    }


def main():
    AviaryEnvironment().serve()
