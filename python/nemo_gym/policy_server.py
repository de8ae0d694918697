"""Serves the model that is being trained behind the chat API of vLLM, for machines without vLLM. Needs torch.

It has what `vllm_model` of the gym needs of an engine, and no more. Requests that wait together are generated together. The prompt of
a later turn begins with the exact tokens of the earlier ones, which come back on the assistant messages: no text is tokenized twice.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

MAX_BATCH = 512
#: How long a request waits for others to be generated with.
GATHER_SECONDS = 0.005


class PolicyServer:
    """`parse` turns generated text into the fields of a chat message: `content`, and `tool_calls` if there are any."""

    def __init__(
        self, model: Any, tokenizer: Any, *, max_tokens: int, parse: Callable[[str], dict[str, Any]], port: int = 0
    ) -> None:
        self.model, self.tokenizer, self.max_tokens, self.parse = model, tokenizer, max_tokens, parse
        #: Raised by the trainer after each update; answers say which weights they come from.
        self.policy_version = 0
        self.calls = self.batches = 0
        self._waiting: queue.Queue[Any] = queue.Queue()
        self._free = threading.Event()
        self._free.set()
        self._http = _Server(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        threading.Thread(target=self._generate_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def pause(self) -> None:
        """Holds generation, for instance while weights change; requests wait."""
        self._free.clear()

    def resume(self) -> None:
        self._free.set()

    def prompt(self, messages: list[dict[str, Any]]) -> list[int]:
        """The tokens of a conversation: those of the last assistant message that carries them, then the rest by the chat template."""
        last = max((index for index, message in enumerate(messages) if message.get("prompt_token_ids")), default=None)
        known = [] if last is None else messages[last]["prompt_token_ids"] + messages[last]["generation_token_ids"]
        rest = messages if last is None else messages[last + 1 :]
        ids = self.tokenizer.apply_chat_template(rest, add_generation_prompt=True, tokenize=True, return_dict=False)
        return list(known + ids)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Generates the answer to a chat request, together with others that wait."""
        done: queue.Queue[Any] = queue.Queue()
        prompt_ids = self.prompt(body["messages"])
        self._waiting.put((prompt_ids, float(body.get("temperature") or 1.0), done))
        outcome = done.get()
        if isinstance(outcome, Exception):
            raise outcome
        token_ids, logprobs, version = outcome
        message = self.parse(self.tokenizer.decode(token_ids, skip_special_tokens=True))
        message.update(
            role="assistant",
            prompt_token_ids=prompt_ids,
            generation_token_ids=token_ids,
            generation_log_probs=logprobs,
        )
        counts = {"prompt_tokens": len(prompt_ids), "completion_tokens": len(token_ids)}
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": "policy",
            "policy_version": version,
            "choices": [
                {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
            ],
            "usage": {**counts, "total_tokens": sum(counts.values())},
        }

    def _generate_forever(self) -> None:
        while True:
            batch = [self._waiting.get()]
            time.sleep(GATHER_SECONDS)
            while not self._waiting.empty() and len(batch) < MAX_BATCH:
                batch.append(self._waiting.get())
            self._free.wait()
            try:
                outcomes: list[Any] = self._generate([(ids, heat) for ids, heat, _ in batch])
            except Exception as error:  # Whoever waits must learn of it.
                outcomes = [error] * len(batch)
            for (_, _, done), outcome in zip(batch, outcomes):
                done.put(outcome)

    def _generate(self, batch: list[tuple[list[int], float]]) -> list[tuple[list[int], list[float], int]]:
        import torch

        self.calls, self.batches, version = self.calls + len(batch), self.batches + 1, self.policy_version
        width = max(len(ids) for ids, _ in batch)
        pad, eos = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        tokens = torch.tensor([[pad] * (width - len(ids)) + ids for ids, _ in batch])
        mask = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids, _ in batch])
        heat = torch.tensor([temperature for _, temperature in batch]).unsqueeze(1)
        out: list[list[int]] = [[] for _ in batch]
        logs: list[list[float]] = [[] for _ in batch]
        alive = [True] * len(batch)
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            for _ in range(self.max_tokens):
                positions = (mask.cumsum(1) - 1).clamp(min=0)
                scores = self.model(input_ids=tokens, attention_mask=mask, position_ids=positions).logits[:, -1].float()
                distribution = torch.log_softmax(scores / heat, -1)
                drawn = torch.multinomial(distribution.exp(), 1)
                for index, token in enumerate(drawn[:, 0].tolist()):
                    if alive[index]:
                        out[index].append(token)
                        logs[index].append(float(distribution[index, token]))
                        alive[index] = token != eos
                if not any(alive):
                    break
                tokens, mask = torch.cat([tokens, drawn], 1), torch.cat([mask, torch.ones_like(drawn)], 1)
        self.model.train(was_training)
        return [(ids, logprobs, version) for ids, logprobs in zip(out, logs)]


class _Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


def _handler(owner: PolicyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def _send(self, body: dict[str, Any], status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "policy", "object": "model", "created": 0, "owned_by": "nemo-gym"}]})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            try:
                if path.endswith("/pause"):
                    owner.pause()
                    return self._send({})
                if path.endswith("/resume"):
                    owner.resume()
                    return self._send({})
                body = json.loads(raw)
                if path.endswith("/tokenize"):
                    return self._send({"tokens": owner.prompt(body["messages"])})
                self._send(owner.answer(body))
            except Exception as error:
                self._send({"error": {"message": f"{type(error).__name__}: {error}"}}, 500)

    return Handler
