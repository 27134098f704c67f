"""Client for a model router. It needs only the standard library.

    router = Router("https://router.example.com", key="rk_live_…")
    print(router.run("bfl/flux-2-pro", {"prompt": "a red fox in the snow"}).output)
"""

from __future__ import annotations

import http.client
import json
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, NamedTuple, Optional, Union
from urllib.parse import quote

from ._calls import Answer, Connection, Deadline
from ._errors import RouterError
from ._media_type import is_json
from ._webhook import WebhookVerificationError, verify_webhook

__all__ = ["Result", "Router", "RouterError", "WebhookVerificationError", "verify_webhook"]

Run = Dict[str, Any]
"""The id, URLs and state of a run as the router returns them: plain JSON that you can store anywhere."""

_SYNC_S = 3600.0
_UPLOAD_S = 600.0
_MIN_PAUSE_S = 0.5
_MAX_PAUSE_S = 5.0
# The server sends at least a comment every 15 s.
_MAX_SILENCE_S = 45.0


class Result(NamedTuple):
    """The result of a run. `output` is parsed JSON, or bytes if the output is not JSON.

    `run_id` identifies the run in the router's records, and `call_id` the HTTP call that returned the result.
    """

    output: Any
    bytes: bytes
    content_type: str
    cost_cents: Optional[float]
    run_id: Optional[str] = None
    call_id: Optional[str] = None


class Router:
    """Calls a model router. `timeout` limits each method call, in seconds. It ends the wait, not the run."""

    def __init__(
        self,
        base_url: str,
        *,
        key: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = 900.0,
    ) -> None:
        if (key is None) == (token is None):
            raise TypeError("Pass either a key or a token.")
        credential = {"X-API-Key": key} if key is not None else {"Authorization": f"Bearer {token}"}
        self._connection = Connection(base_url.rstrip("/"), credential)
        self._timeout = timeout

    def run(
        self,
        model: str,
        input: Union[Dict[str, Any], str],
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result:
        """Runs a model and waits for its result on one connection. A string as the input is sent unchanged."""
        return _result(self._requested(f"/v2/models/{_path_of(model)}", input, idempotency_key, timeout, _SYNC_S))

    def submit(
        self,
        model: str,
        input: Union[Dict[str, Any], str],
        *,
        idempotency_key: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Run:
        """Queues a run and returns its request_id and URLs, which are all that the other methods need."""
        query = "" if webhook_url is None else f"?webhook_url={quote(webhook_url, safe='')}"
        path = f"/v2/models/{_path_of(model)}/requests{query}"
        return self._requested(path, input, idempotency_key, timeout).json()

    def status(self, run: Run, *, timeout: Optional[float] = None) -> Run:
        return self._connection.call("GET", run["status_url"], self._deadline(timeout)).json()

    def subscribe(self, run: Run, *, timeout: Optional[float] = None) -> Iterator[Run]:
        """Yields every change of the run's state until it completes."""
        return self._follow(run, self._deadline(timeout))

    def collect(self, run: Run, *, timeout: Optional[float] = None) -> Result:
        """Waits for the run's result. Raises the run's error if it failed or was cancelled."""
        deadline = self._deadline(timeout)

        def is_outcome(error: RouterError) -> bool:
            if error.status == 0:
                return False
            state = self._connection.call("GET", run["status_url"], deadline).json()
            return state.get("error_type") == error.bucket

        while True:
            answer = self._connection.call(
                "GET", run["response_url"], deadline, try_s=_SYNC_S, is_outcome=is_outcome
            )
            if answer.status != 202:
                return _result(answer)
            for _ in self._follow(run, deadline):
                pass

    def cancel(self, run: Run, *, timeout: Optional[float] = None) -> Dict[str, str]:
        return self._connection.call("PUT", run["cancel_url"], self._deadline(timeout)).json()

    def upload(self, file: Any, *, content_type: Optional[str] = None, timeout: Optional[float] = None) -> str:
        """Uploads bytes, a path or a file object, and returns its URL. `run` and `submit` upload files in the input."""
        return self._uploaded(file, content_type, self._deadline(timeout))

    def models(self, *, timeout: Optional[float] = None) -> Iterator[Dict[str, Any]]:
        """Yields every model that you can run."""
        cursor = ""
        while True:
            page = self._connection.call("GET", f"/v2/models?limit=100{cursor}", self._deadline(timeout)).json()
            yield from page["data"]
            if not page["has_more"]:
                return
            cursor = f"&cursor={quote(page['next_cursor'], safe='')}"

    def _deadline(self, timeout: Optional[float]) -> Deadline:
        return Deadline(self._timeout if timeout is None else timeout)

    def _requested(
        self,
        path: str,
        input: Union[Dict[str, Any], str],
        idempotency_key: Optional[str],
        timeout: Optional[float],
        try_s: float = 60.0,
    ) -> Answer:
        deadline = self._deadline(timeout)
        # Files are uploaded first, so that every attempt sends the same bytes.
        body = input if isinstance(input, str) else json.dumps(self._with_files(input, deadline, {}))
        return self._connection.call(
            "POST",
            path,
            deadline,
            body=body.encode(),
            content_type="application/json",
            idempotency_key=idempotency_key or str(uuid.uuid4()),
            try_s=try_s,
        )

    def _with_files(self, value: Any, deadline: Deadline, urls: Dict[int, str]) -> Any:
        if isinstance(value, dict):
            return {name: self._with_files(member, deadline, urls) for name, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._with_files(member, deadline, urls) for member in value]
        if isinstance(value, (bytes, bytearray, Path)) or hasattr(value, "read"):
            if id(value) not in urls:
                urls[id(value)] = self._uploaded(value, None, deadline)
            return urls[id(value)]
        return value

    def _uploaded(self, file: Any, content_type: Optional[str], deadline: Deadline) -> str:
        data = file.read_bytes() if isinstance(file, Path) else file.read() if hasattr(file, "read") else bytes(file)
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError("Files are uploaded as bytes. Open the file in mode 'rb'.")
        kind = content_type or "application/octet-stream"
        return self._connection.call(
            "POST", "/v2/files", deadline, body=data, content_type=kind, try_s=_UPLOAD_S
        ).json()["url"]

    def _follow(self, run: Run, deadline: Deadline) -> Iterator[Run]:
        """Yields streamed states, and polls while the stream is not available."""
        last: Optional[Run] = None
        has_stream = True
        pause_s = _MIN_PAUSE_S
        while True:
            states = self._streamed(run, deadline) if has_stream else iter(())
            try:
                for state in states:
                    pause_s = _MIN_PAUSE_S
                    if state != last:
                        yield state
                    last = state
                    if state["status"] == "COMPLETED":
                        return
            except RouterError:
                has_stream = False
            except (OSError, ValueError, http.client.HTTPException):
                pass
            state = self._connection.call("GET", run["status_url"], deadline).json()
            if state != last:
                yield state
            last = state
            if state["status"] == "COMPLETED":
                return
            deadline.pause(pause_s)
            pause_s = min(pause_s * 1.5, _MAX_PAUSE_S)

    def _streamed(self, run: Run, deadline: Deadline) -> Iterator[Run]:
        state: Optional[Run] = None
        event = ""
        for line in self._connection.lines(f"{run['status_url']}/stream", deadline, _MAX_SILENCE_S):
            name, _, value = line.partition(":")
            if name == "event":
                event = value.strip()
            elif name == "data":
                payload = json.loads(value)
                if event != "progress":
                    state = payload
                elif state is not None:
                    state = {**state, "progress": payload["progress"]}
                if state is not None:
                    yield state
            elif line == "":
                event = ""


def _path_of(model: str) -> str:
    return quote(model, safe="/:@")


def _result(answer: Answer) -> Result:
    kind = answer.headers.get("Content-Type", "")
    cost = answer.headers.get("X-Service-Cost-Cents")
    output = answer.json() if is_json(kind) else answer.body
    return Result(
        output,
        answer.body,
        kind,
        None if cost is None else float(cost),
        answer.headers.get("X-Service-Run-Id"),
        answer.headers.get("X-Service-Request-Id"),
    )
