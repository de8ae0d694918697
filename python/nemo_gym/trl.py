"""Environments of the gym for the trainers of TRL.

    with GymSpec(rows, config=config, agent="my_simple_agent") as spec:
        trainer = GRPOTrainer(
            train_dataset=spec.train_dataset, reward_funcs=spec.reward_funcs, rollout_func=spec.rollout_func, ...
        )

Two ways to train:

- `rollout_func`: an agent of the gym calls the policy and the tools, and TRL trains on the tokens the policy's engine gave. The policy must be
  served where `policy_base_url` says (vLLM, or `nemo_gym.policy_server`).
- `environment_factory`: TRL generates and runs the tool loop; the environment is a session on a resources server.

A rollout that failed has the reward None, which TRL leaves out, never 0.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import inspect
import json
import logging
import socket
import urllib.error
import urllib.request
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Iterable
from urllib.parse import urlparse

from nemo_gym.cli import GlobalConfigDictParserConfig, RunHelper
from nemo_gym.server_utils import BaseServerConfig, GymRequestError, ServerClient, get_response_json, raise_for_status
from nemo_gym.token_sequences import Drift, TokenDriftError, sequences_of

Row = dict[str, Any]
log = logging.getLogger(__name__)
#: Asks a resources server for its tools when a session starts.
ROLLOUT_START_HEADER = "x-nemo-gym-rollout-start"

_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class GymSpec:
    """What a trainer of TRL takes: `train_dataset`, `reward_funcs`, and `rollout_func` or `environment_factory`."""

    def __init__(
        self,
        rows: Iterable[Row] | str | Path,
        *,
        url: str | None = None,
        config: dict[str, Any] | None = None,
        agent: str | None = None,
        resources_server: str | None = None,
        drift: Drift = "truncate",
        tool_timeout: float = 600.0,
    ) -> None:
        """`rows` are rows of the gym or a JSONL file. The gym is the one whose head server answers at `url`, or is started from
        `config`. Name the `agent` for `rollout_func`, the `resources_server` for `environment_factory`. TRL takes one sequence per
        rollout: where the tokens drift, `truncate` trains on what comes before the break and `strict` on nothing."""
        if (url is None) == (config is None):
            raise ValueError("Give the url of a head server, or the config of a gym to start.")
        self.rows = _read_rows(rows)
        self.drift = drift
        self.tool_timeout = tool_timeout
        self._helper: RunHelper | None = None
        if config is not None:
            self._helper = RunHelper()
            own = {"head_server": {"host": "127.0.0.1", "port": _free_port()}, **config}
            self._helper.start(GlobalConfigDictParserConfig(initial_global_config_dict=own, skip_load_from_cli=True))
            url = self._helper.ready_event["head_server"]
        address = urlparse(str(url))
        head = BaseServerConfig(str(address.hostname), address.port or 80)
        self.client = ServerClient.load_from_global_config(head)
        self.agent = agent
        self.resources_url = self.client.url_of(resources_server) if resources_server else None
        #: Counts of all rollouts so far: `rollouts`, `failed`, `drifted`.
        self.counts = {"rollouts": 0, "failed": 0, "drifted": 0}

    def __enter__(self) -> GymSpec:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stops the gym, if this object has started it."""
        if self._helper is not None:
            self._helper.shutdown()

    @cached_property
    def train_dataset(self) -> Any:
        """Prompts as messages, and the row as text: a column of objects would get the union of all keys."""
        from datasets import Dataset

        return Dataset.from_list([{"prompt": _messages(row), "gym_row": json.dumps(row)} for row in self.rows])

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The verdicts of the gym."""

        def gym_reward(completions: list[Any], **columns: Any) -> list[float | None]:
            if "gym_reward" in columns:
                return list(columns["gym_reward"])
            environments = columns["environments"]
            return [environment._verify(said) for environment, said in zip(environments, completions)]

        return [gym_reward]

    # The agent of the gym runs the rollouts.

    @cached_property
    def _row_of_prompt(self) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for row in self.rows:
            key = _key(_messages(row))
            if found.setdefault(key, row) != row:
                raise ValueError(f"Two rows have the same prompt, and TRL hands rollout_func nothing but prompts: {key[:200]}")
        return found

    def rollout_func(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        """One rollout for each prompt (TRL repeats them), all at once."""
        if self.agent is None:
            raise ValueError("rollout_func needs the name of an agent: GymSpec(..., agent=NAME).")
        pad = _pad_token(trainer)
        rows = [self._row_of_prompt[_key(prompt)] for prompt in prompts]
        columns: dict[str, list[Any]] = {
            key: [] for key in ("prompt_ids", "completion_ids", "logprobs", "env_mask", "gym_reward")
        }
        for result in asyncio.run(self._run_all(rows)):
            record = self._record(result) or {
                # Not trained on: the mask is 0, and the reward None.
                "prompt_ids": [pad], "completion_ids": [pad], "logprobs": [0.0], "env_mask": [0], "gym_reward": None,
            }  # fmt: skip
            for key, values in columns.items():
                values.append(record[key])
        return columns

    async def _run_all(self, rows: list[Row]) -> list[Row | None]:
        async def run(row: Row) -> Row | None:
            try:
                async with await self.client.post(str(self.agent), "/run", json=row) as response:
                    await raise_for_status(response)
                    result: Row = await get_response_json(response)
                    return result
            except (GymRequestError, OSError) as error:
                log.warning("A rollout failed and is left out: %s", error)
                return None

        async with self.client:
            return list(await asyncio.gather(*map(run, rows)))

    def _record(self, result: Row | None) -> dict[str, Any] | None:
        """What TRL takes of a result; None for one that must not be learned from."""
        self.counts["rollouts"] += 1
        reward = result.get("reward") if result else None
        if result is None or reward is None or result.get("mask_sample"):
            self.counts["failed"] += 1
            return None
        try:
            sequences = sequences_of(result)
            if len(sequences) > 1:
                self.counts["drifted"] += 1
                if self.drift == "strict":
                    raise TokenDriftError("The tokens of a rollout drift.")
        except ValueError as error:
            log.warning("A rollout cannot be trained on: %s", error)
            return None
        if not sequences:
            raise ValueError(
                "The rollout has no token ids. Serve the policy with vllm_model and return_token_id_information: true."
            )
        first = sequences[0]
        return {
            "prompt_ids": first.prompt_ids,
            "completion_ids": first.completion_ids,
            "logprobs": first.logprobs,
            "env_mask": first.mask,
            "gym_reward": float(reward),
        }

    # TRL runs the rollouts.

    @cached_property
    def environment_factory(self) -> type[GymEnvironment]:
        """A class whose objects are sessions on the resources server, with its tools as methods."""
        if self.resources_url is None:
            raise ValueError("environment_factory needs a resources server: GymSpec(..., resources_server=NAME).")
        given = [row["responses_create_params"].get("tools") for row in self.rows]
        lists = [tools for tools in given if tools is not None]
        if len(lists) < len(given):
            lists.append(self._tools_of_server(self.rows[given.index(None)]))
        tools = {tool["name"]: tool for each in lists for tool in each if tool.get("type") == "function"}
        if not tools:
            log.warning("Neither the rows nor the resources server at %s name tools: the model gets none.", self.resources_url)
        members: dict[str, Any] = {name: _method(tool) for name, tool in tools.items()}
        members.update(_url=self.resources_url, _timeout=self.tool_timeout, _counts=self.counts)
        return type("GymEnvironment", (GymEnvironment,), members)


    def _tools_of_server(self, row: Row) -> list[dict[str, Any]]:
        """What the server offers for a row without tools, as it tells the agents of the gym when a rollout starts."""
        headers = {"Content-Type": "application/json", ROLLOUT_START_HEADER: "1"}
        request = urllib.request.Request(f"{self.resources_url}/seed_session", json.dumps(row).encode(), headers, method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=self.tool_timeout) as reply:
                return list(json.loads(reply.read()).get("tools") or [])
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            raise ValueError(f"The resources server refuses a row (status {error.code}): {text}") from error


class GymEnvironment:
    """A session on a resources server. TRL resets the objects and uses them again."""

    _url: str
    _timeout: float
    _counts: dict[str, int]

    def __init__(self) -> None:
        self._row: Row = {}
        self._jar = http.cookiejar.CookieJar()
        self._failure: str | None = None
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self._jar)
        )

    def reset(self, gym_row: str, **_: Any) -> None:
        """Begins a rollout of the row."""
        self._row, self._failure = json.loads(gym_row), None
        self._jar.clear()
        try:
            self._post("/seed_session", self._row)
        except OSError as error:
            self._failure = str(error)

    def _post(self, path: str, body: Any) -> str:
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with self._opener.open(request, timeout=self._timeout) as reply:
            text: bytes = reply.read()
            return text.decode()

    def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        try:
            return self._post(f"/{tool}", arguments)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            # The model sees what is wrong with its arguments; trouble of the server is not its fault.
            if error.code < 500:
                return text
            self._failure = text
        except OSError as error:
            self._failure = str(error)
        return "The tool is not available."

    def _verify(self, completion: Any) -> float | None:
        self._counts["rollouts"] += 1
        try:
            if self._failure is not None:
                raise OSError(self._failure)
            result = json.loads(self._post("/verify", {**self._row, "response": _response(completion)}))
            if result.get("mask_sample") or result.get("reward") is None:
                raise OSError(f"the rollout is masked ({result.get('_ng_failure_class', 'mask_sample')})")
            return float(result["reward"])
        except OSError as error:
            self._counts["failed"] += 1
            log.warning("A rollout failed and is left out: %s", error)
            return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _read_rows(rows: Iterable[Row] | str | Path) -> list[Row]:
    if isinstance(rows, (str, Path)):
        with open(rows, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
    found = list(rows)
    if not found:
        raise ValueError("There are no rows to train on.")
    return found


def _messages(row: Row) -> list[dict[str, Any]]:
    given = row["responses_create_params"]["input"]
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [{"role": message["role"], "content": message["content"]} for message in given]


def _key(messages: Any) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


def _pad_token(trainer: Any) -> int:
    tokenizer = trainer.processing_class
    pad = tokenizer.pad_token_id
    return int(tokenizer.eos_token_id if pad is None else pad)


def _method(tool: dict[str, Any]) -> Callable[..., str]:
    """A method with the signature and the docstring of a tool's schema, which TRL turns into a schema again."""
    schema = tool.get("parameters") or {}
    names, required = schema.get("properties") or {}, set(schema.get("required") or [])
    order = sorted(names, key=lambda name: name not in required)

    def method(self: GymEnvironment, **arguments: Any) -> str:
        return self._call(tool["name"], {key: value for key, value in arguments.items() if value is not None})

    def kind(name: str) -> type:
        given = names[name].get("type")
        return _TYPES.get(given, str) if isinstance(given, str) else str

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(
            name, positional, annotation=kind(name), default=inspect.Parameter.empty if name in required else None
        )
        for name in order
    ]
    method.__name__ = method.__qualname__ = tool["name"]
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", positional), *parameters], return_annotation=str
    )
    method.__annotations__ = {**{name: kind(name) for name in order}, "return": str}
    lines = [tool.get("description") or tool["name"], ""]
    if order:
        lines += ["Args:", *(f"    {name}: {names[name].get('description') or name}" for name in order), ""]
    method.__doc__ = "\n".join([*lines, "Returns:", "    The answer of the tool."])
    return method


def _response(completion: Any) -> dict[str, Any]:
    """Chat messages as the Response a verifier reads."""
    messages: list[dict[str, Any]] = (
        [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
    )
    output: list[dict[str, Any]] = []
    calls = answered = 0
    for message in messages:
        if message["role"] == "tool":
            output.append(
                {"type": "function_call_output", "call_id": f"call_{answered}", "output": str(message["content"])}
            )
            answered += 1
            continue
        if message.get("content"):
            text = {"type": "output_text", "text": message["content"], "annotations": []}
            output.append(
                {"id": f"msg_{len(output)}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
            )
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            text_of = arguments if isinstance(arguments, str) else json.dumps(arguments)
            output.append(
                {"type": "function_call", "call_id": f"call_{calls}", "name": call["function"]["name"], "arguments": text_of}
            )
            calls += 1
    return {
        "id": "resp", "object": "response", "created_at": 0, "model": "policy", "output": output,
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
