"""A stand-in for vLLM: the policy adds the last number of the first message (or 1) to the counter by a tool, then says it is done."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from typing import Any

from aiohttp import web


class Engine:
    """Answers `POST /v1/chat/completions` with token ids; the tokens of a text are its UTF-8 bytes."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.prefix_breaks = 0
        #: Answer with this status instead.
        self.fail_with: int | None = None
        #: Wait this long, with all requests open.
        self.seconds = 0.0
        self.most_open = 0
        self._open = 0
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        started.wait()

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        started.set()
        self._loop.run_forever()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        assert site._server is not None
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "policy", "object": "model"}]})

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
            if self.fail_with is not None:
                return web.json_response({"error": {"message": "the engine is unwell"}}, status=self.fail_with)
            return web.json_response(self._answer(body))
        finally:
            self._open -= 1

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        messages = body["messages"]
        number = int((re.findall(r"\d+", messages[0]["content"]) or ["1"])[-1])
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if messages[-1]["role"] == "tool":
            message["content"] = "done"
        else:
            call = {"name": "increment_counter", "arguments": json.dumps({"count": number})}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
        prompt = self._prompt(messages)
        generated = list((message["content"] or f"+{number}").encode())
        message.update(
            prompt_token_ids=prompt, generation_token_ids=generated, generation_log_probs=[0.0 for _ in generated]
        )
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "policy",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(generated), "total_tokens": 0},
        }

    def _prompt(self, messages: list[dict[str, Any]]) -> list[int]:
        """The ids that come back on the last assistant message, then the bytes of what follows: nothing is tokenized twice."""
        known: list[int] = []
        rest = messages
        for index, message in enumerate(messages):
            if message["role"] == "assistant":
                if not message.get("prompt_token_ids"):
                    self.prefix_breaks += 1
                    continue
                known = message["prompt_token_ids"] + message["generation_token_ids"]
                rest = messages[index + 1 :]
        return known + list("".join(str(message["content"]) for message in rest).encode()) + [0]
