"""Calls the servers of a run by their names."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Mapping

import aiohttp
from yarl import URL

HEAD_SERVER_KEY_NAME = "head_server"
DEFAULT_HEAD_SERVER_PORT = 11000

#: Trainers post a whole batch at once.
CONNECTION_LIMIT = 65_536
CONNECTION_LIMIT_PER_HOST = 16_384
#: Shorter than the 30 seconds after which the servers close an idle connection.
KEEP_ALIVE_SECONDS = 15
CONNECT_SECONDS = 60
#: Attempts for a request that never reached a server. One that may have reached it is never repeated: tools may have run.
CONNECT_ATTEMPTS = 5
HEAD_SECONDS = 30
MAX_QUOTED = 2_000


@dataclass
class BaseServerConfig:
    """The address of a server."""

    host: str
    port: int


class GymRequestError(aiohttp.ClientResponseError):
    """A server answered with an error.

    `status` says whose fault it is: 5xx, 408 and 429 that of the infrastructure (another attempt may help), other 4xx that of the
    row. `failure` is the gym's own account of it, `{class, stage, retryable, message}`, where it gave one. Survives pickling.
    """

    def __init__(self, status: int, url: str, content: bytes) -> None:
        address = URL(url)
        super().__init__(
            aiohttp.RequestInfo(address, "POST", _NO_HEADERS, address), (), status=status, message=_message(content)
        )
        self.url = url
        self.response_content = content
        self.failure = _failure(content)

    def __reduce__(self) -> Any:
        return (GymRequestError, (self.status, self.url, self.response_content))

    def __str__(self) -> str:
        return f"HTTP {self.status} from {self.url}: {self.message}"


class ServerUnavailableError(ConnectionError):
    """No connection to a server could be made. Trainers count it as a failure of the infrastructure. Survives pickling."""


_NO_HEADERS: Any = {}


class ServerClient:
    """Calls servers of a run by name. Cookies are the caller's business: rows of a batch must not share sessions."""

    def __init__(self, head_server_config: BaseServerConfig, instances: list[dict[str, Any]]) -> None:
        self.head_server_config = head_server_config
        self.instances = instances
        self._urls = {instance["process_name"]: str(instance["url"]) for instance in instances}
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._users = 0

    @classmethod
    def load_head_server_config(cls) -> BaseServerConfig:
        """The head server's usual address."""
        return BaseServerConfig("127.0.0.1", DEFAULT_HEAD_SERVER_PORT)

    @classmethod
    def load_from_global_config(cls, head_server_config: BaseServerConfig | None = None) -> ServerClient:
        """Asks the head server which servers there are."""
        head = head_server_config or cls.load_head_server_config()
        return cls(head, json.loads(_read_head(head, "/server_instances")))

    @property
    def global_config_dict(self) -> Any:
        """The config of the run; secrets are masked unless NEMO_GYM_HEAD_TOKEN holds the token of the run. Needs PyYAML."""
        import yaml

        return yaml.safe_load(json.loads(_read_head(self.head_server_config, "/global_config_dict_yaml")))

    def url_of(self, server_name: str) -> str:
        """The address of a server."""
        url = self._urls.get(server_name)
        if url is None:
            known = ", ".join(sorted(self._urls)) or "none"
            raise KeyError(f"The run has no server '{server_name}'. Its servers: {known}.")
        return url

    async def post(self, server_name: str, url_path: str, **kwargs: Any) -> aiohttp.ClientResponse:
        """POSTs to a server. Waits as long as it takes: weights may be synchronised while a model call waits."""
        return await self._request("POST", server_name, url_path, kwargs)

    async def get(self, server_name: str, url_path: str, **kwargs: Any) -> aiohttp.ClientResponse:
        """GETs from a server."""
        return await self._request("GET", server_name, url_path, kwargs)

    async def _request(
        self, method: str, server_name: str, url_path: str, kwargs: Mapping[str, Any]
    ) -> aiohttp.ClientResponse:
        url = self.url_of(server_name) + url_path
        for attempt in range(1, CONNECT_ATTEMPTS + 1):
            try:
                return await self._open_session().request(method, url, **kwargs)
            except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError) as error:
                if attempt == CONNECT_ATTEMPTS:
                    raise ServerUnavailableError(f"No connection to '{server_name}' at {url}: {error}") from error
            await asyncio.sleep(0.25 * 2**attempt)
        raise AssertionError("unreachable")

    def _open_session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            _allow_many_files()
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=CONNECTION_LIMIT, limit_per_host=CONNECTION_LIMIT_PER_HOST, keepalive_timeout=KEEP_ALIVE_SECONDS
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
            self._loop = loop
        return self._session

    async def __aenter__(self) -> ServerClient:
        """Users that overlap share connections; the last one closes them."""
        self._users += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0:
            await self.close()

    async def close(self) -> None:
        """Closes the connections. The next request opens new ones."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()


async def raise_for_status(response: aiohttp.ClientResponse) -> None:
    """Raises GymRequestError, with the content, for a status of 400 or above."""
    if response.status >= 400:
        raise GymRequestError(response.status, str(response.url), await response.read())


async def get_response_json(response: aiohttp.ClientResponse) -> Any:
    """The answer as Python values."""
    return json.loads(await response.read())


def _read_head(head: BaseServerConfig, path: str) -> str:
    # 0.0.0.0 is an address to listen on, not one to call.
    host = "127.0.0.1" if head.host in ("0.0.0.0", "::") else head.host
    url = f"http://{host}:{head.port}{path}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        # The token shows the head server that the caller belongs to the run and may see the whole config.
        token = os.environ.get("NEMO_GYM_HEAD_TOKEN")
        request = urllib.request.Request(url, headers={"X-NeMo-Gym-Token": token} if token else {})
        with opener.open(request, timeout=HEAD_SECONDS) as reply:
            body: bytes = reply.read()
    except (urllib.error.URLError, OSError) as error:
        raise ServerUnavailableError(f"No head server answers at {url}: {error}") from error
    return body.decode()


def _failure(content: bytes) -> dict[str, Any] | None:
    try:
        failure = json.loads(content)["error"]
    except (ValueError, TypeError, KeyError):
        return None
    return failure if isinstance(failure, dict) else None


def _message(content: bytes) -> str:
    failure = _failure(content)
    if failure is not None and isinstance(failure.get("message"), str):
        return str(failure["message"])
    return content[:MAX_QUOTED].decode(errors="replace")


def _allow_many_files() -> None:
    """Every open request holds a descriptor; the soft limit is often 1024."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            pass
