"""A server of the gym with nothing but the standard library: JSON over HTTP, handlers on one event loop."""

import asyncio
import json
import os
import re
import threading
import traceback
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

PREFIX = re.compile(r"^/ng-rollout/[^/]+(?:/training-token-capture)?(?=/)")


class HttpError(Exception):
    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status
        self.detail = detail


class Run:
    """The config of the run and of this server, as the gym passes them to Python servers."""

    def __init__(self):
        self.config = yaml.safe_load(os.environ["NEMO_GYM_CONFIG_DICT"])
        self.name = os.environ["NEMO_GYM_CONFIG_PATH"]
        self.own = self._block(self.name)

    def _block(self, name):
        (implementations,) = (value for key, value in self.config[name].items() if isinstance(value, dict))
        (block,) = implementations.values()
        return block

    def url(self, reference):
        block = self._block(reference["name"])
        return f"http://{block['host']}:{block['port']}"


def rollout_prefix(row):
    """The path in front of a model server's routes by which it counts and records the calls of a rollout."""
    given = row.get("_ng_rollout_id")
    if given is None:
        task, rollout = row.get("_ng_task_index"), row.get("_ng_rollout_index")
        if task is None or rollout is None:
            return ""
        given = f"{task}-{rollout}"
    attempt = int(row.get("_ng_attempt_index") or 0)
    return f"/ng-rollout/{given}{f'-a{attempt}' if attempt else ''}"


def post(url, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def serve(routes, run, *, start=None):
    """Answers `POST` with the coroutine functions in `routes` until the process ends. `start` is an async context manager."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    if start is not None:
        asyncio.run_coroutine_threadsafe(start.__aenter__(), loop).result()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self._reply(200, {"status": "ok"})

        def do_POST(self):
            length = int(self.headers.get("content-length") or 0)
            text = self.rfile.read(length)
            handler = routes.get(PREFIX.sub("", self.path))
            if handler is None:
                return self._reply(404, {"detail": "Not Found"})
            try:
                body = json.loads(text or b"{}")
                self._reply(200, asyncio.run_coroutine_threadsafe(handler(body), loop).result())
            except HttpError as error:
                self._reply(error.status, {"detail": error.detail})
            except Exception as error:
                traceback.print_exc()
                self._reply(500, {"detail": f"{type(error).__name__}: {error}"})

        def _reply(self, status, body):
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 1024

    try:
        Server((run.own["host"], run.own["port"]), Handler).serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        if start is not None:
            asyncio.run_coroutine_threadsafe(start.__aexit__(None, None, None), loop).result(timeout=10)
