"""Runs one conversation of Hermes Agent. The request is JSON in a file; every message becomes a line of JSON on standard output."""

import contextlib
import json
import sys
import threading
import time

STARTED = time.monotonic()


def run(request):
    from run_agent import AIAgent
    from tools.mcp_tool import discover_mcp_tools

    discover_mcp_tools()
    agent = AIAgent(**request["agent"])
    if request["temperature"] is not None:
        agent.request_overrides = {**(agent.request_overrides or {}), "temperature": request["temperature"]}
    # The conversation returns what it has, before the process is ended from outside.
    timer = threading.Timer(STARTED + request["deadline"] - time.monotonic(), agent.interrupt)
    timer.daemon = True
    timer.start()
    return agent.run_conversation(
        request["prompt"],
        system_message=request["system"],
        conversation_history=request["history"],
    )


def main():
    out = sys.stdout
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    with contextlib.redirect_stdout(sys.stderr):
        result = run(request)
    messages = result["messages"][len(request["history"]) + 1 :]
    # The program's remark about the interruption is no answer of the model.
    if messages and result.get("interrupted") and str(messages[-1].get("content")).startswith("Operation interrupted"):
        messages.pop()
    for message in messages:
        print(json.dumps({"type": "message", "message": message}, default=str), file=out)
    ending = {"type": "end"}
    for key in ("completed", "interrupted", "failed", "error", "turn_exit_reason", "input_tokens", "output_tokens"):
        ending[key] = result.get(key)
    print(json.dumps(ending, default=str), file=out, flush=True)


main()
