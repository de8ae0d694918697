"""Holds many `/run` requests open at once, each answered with long token lists, and says what that takes.

    python bench/open_rollouts.py --rollouts 16000 --hold 300 --tokens 32000

An engine (a process of its own) is paused for `--hold` seconds, as for a weight update. It then answers each call within `--spread` seconds,
with `--tokens` ids, half of them generated and with log probabilities. The gym has at most 4,096 calls open to one engine; the other
rollouts wait in it. All rows are posted at once through the package; every result is checked and dropped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

from aiohttp import web

from nemo_gym.cli import GlobalConfigDictParserConfig, RunHelper
from nemo_gym.rollout_collection import RolloutCollectionHelper
from nemo_gym.server_utils import BaseServerConfig

def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=16_000)
    parser.add_argument("--hold", type=float, default=300)
    parser.add_argument("--spread", type=float, default=5)
    parser.add_argument("--tokens", type=int, default=32_000)
    parser.add_argument("--head-port", type=int, default=11_750)
    parser.add_argument("--engine", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    raise_descriptor_limit()
    if arguments.engine:
        asyncio.run(serve_engine(arguments))
    else:
        measure(arguments)


def raise_descriptor_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def serve_engine(arguments: argparse.Namespace) -> None:
    """Prints its address, then answers until its input ends."""
    generator = random.Random(1)
    tokens = arguments.tokens // 2
    ids = [generator.randrange(1_000, 150_000) for _ in range(tokens)]
    message = {
        "role": "assistant",
        "content": "7",
        "prompt_token_ids": ids,
        "generation_token_ids": ids,
        "generation_log_probs": [-generator.random() for _ in range(tokens)],
    }
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "created": 0, "model": "policy", "choices": [choice], "usage": usage}
    body = json.dumps(answer).encode()

    paused_until = 0.0

    async def chat(request: web.Request) -> web.Response:
        nonlocal paused_until
        await request.read()
        paused_until = paused_until or time.monotonic() + arguments.hold
        await asyncio.sleep(max(0.0, paused_until - time.monotonic()) + arguments.spread * generator.random())
        return web.Response(body=body, content_type="application/json")

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "policy", "object": "model"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=16_384)
    await site.start()
    assert site._server is not None
    print(json.dumps({"port": site._server.sockets[0].getsockname()[1], "bytes": len(body)}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def measure(arguments: argparse.Namespace) -> None:
    engine = subprocess.Popen([sys.executable, __file__, "--engine", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    about = json.loads(engine.stdout.readline())
    config = {
        "config_paths": [
            "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
            "resources_servers/string_match/configs/string_match.yaml",
        ],
        "policy_base_url": [f"http://127.0.0.1:{about['port']}/v1"],
        "policy_api_key": "none",
        "policy_model_name": "policy",
        "head_server": {"host": "127.0.0.1", "port": arguments.head_port},
    }
    helper = RunHelper()
    helper.start(GlobalConfigDictParserConfig(initial_global_config_dict=config, skip_load_from_cli=True))
    try:
        outcome = asyncio.run(run(arguments, about["bytes"]))
        outcome["gym_peak_mb"] = peak_megabytes(os.getpid(), engine.pid)
        outcome["client_peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(json.dumps(outcome, indent=1))
        if outcome["lost"] or outcome["failed"]:
            raise SystemExit(1)
    finally:
        helper.shutdown()
        engine.kill()


async def run(arguments: argparse.Namespace, answer_bytes: int) -> dict[str, object]:
    rows = [
        {
            "responses_create_params": {"input": [{"role": "user", "content": f"say 7, {number}"}]},
            "expected_answer": "7",
            "extraction_mode": "full_response",
            "agent_ref": {"name": "string_match_simple_agent"},
            "_rowidx": number,
        }
        for number in range(arguments.rollouts)
    ]
    head = BaseServerConfig(host="127.0.0.1", port=arguments.head_port)
    print(f"{arguments.rollouts} rows are posted", file=sys.stderr, flush=True)
    started = time.monotonic()
    seen: set[int] = set()
    failures: dict[str, int] = {}
    first = 0.0
    for task in RolloutCollectionHelper().run_examples(rows, head):
        try:
            row, result = await task
        except Exception as error:  # Counted by its text: which ones fail is what the measurement asks.
            text = str(error)[:200]
            failures[text] = failures.get(text, 0) + 1
            continue
        first = first or time.monotonic() - started
        item = result["response"]["output"][-1]
        lengths = {len(item[name]) for name in ("prompt_token_ids", "generation_token_ids", "generation_log_probs")}
        if lengths == {arguments.tokens // 2} and result["reward"] == 1.0:
            seen.add(row["_rowidx"])
        if len(seen) % 1_000 == 0:
            print(f"{len(seen)} results after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    failed = sum(failures.values())
    return {
        "rollouts": arguments.rollouts,
        "hold_seconds": arguments.hold,
        "tokens": arguments.tokens,
        "answer_kb": round(answer_bytes / 1024),
        "first_result_seconds": round(first),
        "seconds": round(time.monotonic() - started),
        "whole": len(seen),
        "failed": failed,
        "lost": arguments.rollouts - len(seen) - failed,
        "failures": failures,
    }


def peak_megabytes(parent: int, besides: int) -> int:
    """The sum of the highest resident sizes of the children of a process and their children, in megabytes."""
    total = 0
    for child in children_of(parent):
        if child == besides:
            continue
        total += own_peak(child) + peak_megabytes(child, besides)
    return total


def children_of(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def own_peak(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main()
