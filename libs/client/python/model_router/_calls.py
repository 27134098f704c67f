from __future__ import annotations

import json
import random
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional
from urllib.parse import urlsplit

from ._errors import RouterError, ids_of, unknown_fields_of
from ._json import is_array, is_object
from ._media_type import media_type_of
from ._steps import ConnectionLost, Flow, Head, Pause, Request, next_chunk, opened

_MAX_TRIES = 5
_LIMIT_REACHED = "The call reached its time limit."
_LARGE_BYTES = 10_000_000
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes
    idempotency_key: Optional[str] = None

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            message = "The response is not JSON. Check that the base URL points to the router."
            raise RouterError(
                "internal_error", message, status=self.status, idempotency_key=self.idempotency_key
            ) from error


class Deadline:
    """The time limit of a method call."""

    def __init__(self, timeout_s: float) -> None:
        self.ends_at = time.monotonic() + timeout_s

    def left(
        self,
        idempotency_key: Optional[str] = None,
        cause: Optional[Exception] = None,
        message: str = _LIMIT_REACHED,
    ) -> float:
        left_s = self.ends_at - time.monotonic()
        if left_s <= 0:
            raise RouterError("deadline_exceeded", message, idempotency_key=idempotency_key) from cause
        return left_s

    def pause(
        self, seconds: float, idempotency_key: Optional[str] = None, cause: Optional[Exception] = None
    ) -> Flow[None]:
        message = _LIMIT_REACHED if cause is None else f"{_LIMIT_REACHED} Before: {cause}"
        yield Pause(min(seconds, self.left(idempotency_key, cause, message)))
        self.left(idempotency_key, cause, message)


class Connection:
    """The address of the router and the caller's credential."""

    def __init__(self, base_url: str, key: Optional[str], token: Optional[str]) -> None:
        if (key is None) == (token is None):
            raise TypeError("Pass either a key or a token.")
        address = urlsplit(base_url)
        # Reading an invalid port raises an error that explains it.
        if address.scheme not in ("http", "https") or not address.hostname or address.port == 0:
            raise ValueError("The base URL must start with https:// or http://.")
        self._base_url = base_url.rstrip("/")
        name, value = ("X-API-Key", str(key)) if key is not None else ("Authorization", f"Bearer {token}")
        self._credential = {name: _header_value("The credential", value)}

    def request(
        self,
        method: str,
        url: str,
        *,
        body: Optional[bytes] = None,
        content_type: Optional[str] = None,
        accept: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[str] = None,
        user: Optional[str] = None,
    ) -> Request:
        """Sends URLs from the router to the base URL's origin, because the key is meant for that origin only."""
        if url.startswith("/"):
            address = self._base_url + url
        else:
            own, given = urlsplit(self._base_url), urlsplit(url)
            address = given._replace(scheme=own.scheme, netloc=own.netloc).geturl()
        headers = dict(self._credential)
        for name, value in (
            ("Content-Type", content_type),
            ("Accept", accept),
            ("Idempotency-Key", idempotency_key),
            ("X-Service-Tags", tags),
            ("X-Service-User", user),
        ):
            if value is not None:
                headers[name] = _header_value(name, value)
        return Request(method, address, headers, body)


def call(
    request: Request,
    deadline: Deadline,
    *,
    try_s: float = 60.0,
    is_outcome: Optional[Callable[[RouterError], Flow[bool]]] = None,
    leave_stream_open: bool = False,
) -> Flow[Answer]:
    """Makes a request, and retries it only if that can neither start nor bill anything twice.

    `is_outcome` tells whether a retryable error is the outcome of the run, so that a retry would return it again. With
    `leave_stream_open`, the answer of an event stream has no body yet, and the flow reads it as chunks.
    """
    idempotency_key = request.headers.get("Idempotency-Key")
    tries = 0
    was_unavailable: Optional[bool] = None
    while True:
        ends_at = time.monotonic() + min(try_s, deadline.left(idempotency_key))
        try:
            return (yield from _tried(request, ends_at, idempotency_key, leave_stream_open))
        except RouterError as error:
            # Only consecutive failures of this kind count: any other answer shows that the router is up.
            is_unavailable = error.bucket == "service_unavailable"
            tries = tries + 1 if is_unavailable == was_unavailable else 1
            was_unavailable = is_unavailable
            wait_s = _wait_before_retry(error, tries)
            failed = error
            if error.status == 0:
                deadline.left(idempotency_key, error)
            if wait_s is None or (is_outcome is not None and (yield from is_outcome(error))):
                raise
        yield from deadline.pause(wait_s, idempotency_key, failed)


def is_event_stream(head: Head) -> bool:
    return head.status == 200 and media_type_of(head.headers.get("Content-Type", "")) == "text/event-stream"


def _tried(
    request: Request, ends_at: float, idempotency_key: Optional[str], leave_stream_open: bool
) -> Flow[Answer]:
    chunks: List[bytes] = []
    try:
        head = yield from opened(request, ends_at)
        if leave_stream_open and is_event_stream(head):
            return Answer(head.status, head.headers, b"", idempotency_key)
        while chunk := (yield from next_chunk()):
            chunks.append(chunk)
    except ConnectionLost as error:
        message = "The router did not respond."
        # A router that rejects a large body may close the connection before its answer can be read.
        if request.body is not None and len(request.body) > _LARGE_BYTES:
            message += f" The request has {len(request.body) // 1_000_000} MB, which may be too large."
        raise RouterError("service_unavailable", message, idempotency_key=idempotency_key) from error.__cause__
    answer = Answer(head.status, head.headers, b"".join(chunks), idempotency_key)
    if answer.status < 300:
        return answer
    payload = _object_in(answer.body)
    if answer.status < 400:
        target = answer.headers.get("Location", "another address")
        payload = {"detail": f"The base URL redirects to {target}. Use the final URL instead."}
    # This 400 is a regular answer to a cancellation.
    if payload.get("status") == "ALREADY_COMPLETED":
        return answer
    raise _error_of(answer, payload)


def _object_in(body: bytes) -> Dict[str, Any]:
    """The JSON object in a body; empty if there is none, because a proxy in between may answer with anything."""
    try:
        payload = json.loads(body)
    except ValueError:
        return {}
    return payload if is_object(payload) else {}


def _error_of(answer: Answer, payload: Dict[str, Any]) -> RouterError:
    detail = payload.get("detail", f"The router returned HTTP {answer.status}.")
    fields = [each for each in detail if _is_field(each)] if is_array(detail) else []
    message = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in fields) or str(detail)
    spend = answer.headers.get("X-Committed-Spend-Current")
    request_id, call_id = ids_of(answer.headers)
    return RouterError(
        answer.headers.get("X-Service-Error-Type", "internal_error"),
        message,
        status=answer.status,
        fields=fields,
        unknown_fields=unknown_fields_of(answer.headers),
        request_id=request_id,
        call_id=call_id,
        retry_after=_seconds_until(answer.headers.get("Retry-After")),
        committed_spend_cents=None if spend is None else int(spend),
        idempotency_key=answer.idempotency_key,
    )


def _is_field(payload: Any) -> bool:
    return is_object(payload) and is_array(payload.get("loc")) and "msg" in payload


def _header_value(name: str, value: str) -> str:
    """Rejected here, so that it is not mistaken for a lost connection."""
    if _HEADER_VALUE.fullmatch(value) is None:
        raise ValueError(f"{name} has characters that do not fit into a header: {value!r}.")
    return value


def _seconds_until(retry_after: Optional[str]) -> Optional[float]:
    """The router sends seconds; a proxy may send a date, or anything else."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]+", retry_after.strip()):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _wait_before_retry(error: RouterError, tries: int) -> Optional[float]:
    """None if a retry cannot help, or if the caller has to decide."""
    backoff_s: float = min(0.5 * 2 ** (tries - 1), 5.0) * random.uniform(0.75, 1.25)
    wait_s = max(backoff_s, error.retry_after or 0.0)
    # The run is in progress, and the same key collects it.
    if error.bucket == "deadline_exceeded" and error.status == 504 and error.idempotency_key:
        return wait_s
    # Nothing was started. A finished run makes room, unless no run is in flight.
    if error.bucket == "concurrency_limit_exceeded" and error.idempotency_key:
        return None if error.committed_spend_cents == 0 else wait_s
    if error.bucket == "service_unavailable" and tries < _MAX_TRIES:
        return wait_s
    return None
