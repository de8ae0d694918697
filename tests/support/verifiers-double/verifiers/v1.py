"""The part of verifiers' interface that the bridge uses, without a harness: for tests without the library.

The taskset `doubles` has one agent and one question per task. `duel` has two, who are asked in turn with an image and play for a zero-sum reward.
"""

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


@dataclass
class AgentConfig:
    harness: dict | None = None
    runtime: dict | None = None


def config_type(**agents):
    """A config whose fields name the agents, as the pydantic classes of the library do."""

    class Config:
        model_fields = {name: Namespace(default=default) for name, default in agents.items()}

        def __init__(self, settings):
            unknown = settings.keys() - self.model_fields.keys() - {"taskset"}
            assert not unknown, f"Extra inputs are not permitted: {unknown}"
            self.agents = {name: settings.get(name) for name in self.model_fields}

    return Config


CONFIGS = {
    "doubles": config_type(agent=AgentConfig()),
    "duel": config_type(first=AgentConfig(harness={"id": "own"}), second=AgentConfig()),
}
PICTURE = "data:image/png;base64,aGVsbG8="


class Environment:
    def __init__(self, config):
        assert all(agent["runtime"] == {"type": "subprocess"} for agent in config.agents.values())
        # The harness that the environment pins is not replaced.
        assert {name for name, agent in config.agents.items() if "harness" in agent} == config.agents.keys() - {"first"}
        self.agents = list(config.agents)
        self.taskset = [f"What is {n} + {n}?" for n in range(1, 4)]

    @contextlib.asynccontextmanager
    async def serving(self):
        yield

    def slots(self, task):
        return [task]

    async def run_slot(self, task, context):
        try:
            traces = [play(name, task, context) for name in self.agents]
        except OSError as error:
            return Episode(errors=[Namespace(message=str(error))])
        if len(traces) > 1:
            traces[1].reward = -traces[0].reward
        return Episode(ok=True, traces=traces)


def play(name, task, context):
    parts = [
        Namespace(type="text", text=task),
        Namespace(type="image_url", image_url=Namespace(url=PICTURE)),
    ]
    chat = [{"type": "text", "text": task}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    single = name == "agent"
    body = {
        "model": context.model,
        "messages": [{"role": "user", "content": task if single else chat}],
        **vars(context.sampling),
    }
    request = urllib.request.Request(
        f"{context.client.base_url}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    said = Namespace(role="assistant", content=answer, reasoning_content=None, tool_calls=None)
    nodes = [
        Namespace(message=Namespace(role="system", content=f"You are the {name}."), sampled=False),
        Namespace(message=Namespace(role="user", content=task if single else parts), sampled=False),
        Namespace(message=said, sampled=True),
    ]
    parameters = {"type": "object", "properties": {}}
    return Namespace(
        agent=Namespace(name=name),
        tools=[Namespace(name="look", description="Looks.", parameters=parameters, strict=None)],
        branches=[Namespace(nodes=nodes)],
        rewards={"length": Namespace(value=float(len(answer)))},
        metrics={"words": len(answer.split()), "unscored": None},
        reward=float(len(answer)),
        errors=[],
        usage=None,
        is_truncated=False,
        stop_condition=None,
    )


def resolve_env_config(settings):
    return CONFIGS[settings["taskset"]["id"]](settings)


def load_environment(config):
    return Environment(config)
