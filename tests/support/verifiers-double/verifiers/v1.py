"""The part of verifiers' interface that the bridge uses, with one question per task and no harness: for tests without the library."""

import contextlib
import json
import urllib.request
from dataclasses import dataclass, field
from types import SimpleNamespace as Namespace

EvalClientConfig = Namespace


class SamplingConfig(Namespace):
    pass


@dataclass
class ModelContext:
    model: str
    client: Namespace
    sampling: SamplingConfig


@dataclass
class Episode:
    ok: bool = False
    traces: list = field(default_factory=list)
    errors: list = field(default_factory=list)


class Environment:
    def __init__(self, config):
        assert config["agent"]["runtime"] == {"type": "subprocess"}
        self.taskset = [f"What is {n} + {n}?" for n in range(1, 4)]

    @contextlib.asynccontextmanager
    async def serving(self):
        yield

    def slots(self, task):
        return [task]

    async def run_slot(self, task, context):
        question = {"role": "user", "content": task}
        body = {"model": context.model, "messages": [question], **vars(context.sampling)}
        request = urllib.request.Request(
            f"{context.client.base_url}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
        except OSError as error:
            return Episode(errors=[Namespace(message=str(error))])
        said = Namespace(role="assistant", content=answer, reasoning_content=None, tool_calls=None)
        nodes = [
            Namespace(message=Namespace(role="user", content=task), sampled=False),
            Namespace(message=said, sampled=True),
        ]
        trace = Namespace(
            branches=[Namespace(nodes=nodes)],
            rewards={"length": Namespace(value=float(len(answer)))},
            metrics={"words": len(answer.split()), "unscored": None},
            reward=float(len(answer)),
            errors=[],
            usage=None,
            is_truncated=False,
            stop_condition=None,
        )
        return Episode(ok=True, traces=[trace])


def resolve_env_config(settings):
    return settings


def load_environment(config):
    return Environment(config)
