from __future__ import annotations

import http.client
import json
import random
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Iterator, Mapping, NamedTuple, Optional
from urllib.parse import urlsplit

from ._errors import RouterError
from ._media_type import media_type_of
from ._transport import Response, send

_MAX_TRIES = 5


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

    def left(self, idempotency_key: Optional[str] = None) -> float:
        left_s = self.ends_at - time.monotonic()
        if left_s <= 0:
            message = "The call reached its time limit."
            raise RouterError("deadline_exceeded", message, idempotency_key=idempotency_key)
        return left_s

    def pause(self, seconds: float, idempotency_key: Optional[str] = None) -> None:
        time.sleep(min(seconds, self.left(idempotency_key)))
        self.left(idempotency_key)


class Connection:
    def __init__(self, base_url: str, credential: Dict[str, str]) -> None:
        address = urlsplit(base_url)
        # Reading an invalid port raises an error that explains it.
        if address.scheme not in ("http", "https") or not address.hostname or address.port == 0:
            raise ValueError("The base URL must start with https:// or http://.")
        self._base_url = base_url
        self._credential = credential

    def call(
        self,
        method: str,
        url: str,
        deadline: Deadline,
        *,
        body: Optional[bytes] = None,
        content_type: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        try_s: float = 60.0,
        is_outcome: Callable[[RouterError], bool] = lambda _: False,
    ) -> Answer:
        """Makes a request, and retries it only if that can neither start nor bill anything twice.

        `is_outcome` tells whether a retryable error is the outcome of the run, so that a retry would return it again.
        """
        headers: Dict[str, str] = {}
        if content_type is not None:
            headers["Content-Type"] = content_type
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        tries = 0
        was_unavailable: Optional[bool] = None
        while True:
            ends_at = time.monotonic() + min(try_s, deadline.left(idempotency_key))
            try:
                return self._tried(method, url, headers, body, ends_at, idempotency_key)
            except RouterError as error:
                # Only consecutive failures of this kind count: any other answer shows that the router is up.
                is_unavailable = error.bucket == "service_unavailable"
                tries = tries + 1 if is_unavailable == was_unavailable else 1
                was_unavailable = is_unavailable
                wait_s = _wait_before_retry(error, tries)
                if error.status == 0:
                    deadline.left(idempotency_key)
                if wait_s is None or is_outcome(error):
                    raise
                deadline.pause(wait_s, idempotency_key)

    def lines(self, url: str, deadline: Deadline, max_silence_s: float) -> Iterator[str]:
        """Yields the lines of an event stream. Raises `RouterError` if the stream is not available."""
        ends_at = time.monotonic() + min(max_silence_s, deadline.left())
        response = self._sent("GET", url, {"Accept": "text/event-stream"}, None, ends_at)
        try:
            kind = media_type_of(response.headers.get("Content-Type", ""))
            if response.status != 200 or kind != "text/event-stream":
                raise RouterError("invalid_input", "The stream is not available.", status=response.status)
            rest = b""
            for chunk in response.chunks(deadline.ends_at, max_silence_s):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line.decode().rstrip("\r")
        finally:
            response.close()

    def _sent(
        self, method: str, url: str, headers: Dict[str, str], body: Optional[bytes], ends_at: float
    ) -> Response:
        """Sends URLs from the router to the base URL's origin, because the key is meant for that origin only."""
        if url.startswith("/"):
            address = self._base_url + url
        else:
            own, given = urlsplit(self._base_url), urlsplit(url)
            address = given._replace(scheme=own.scheme, netloc=own.netloc).geturl()
        return send(method, address, {**self._credential, **headers}, body, ends_at)

    def _tried(
        self,
        method: str,
        url: str,
        headers: Dict[str, str],
        body: Optional[bytes],
        ends_at: float,
        idempotency_key: Optional[str],
    ) -> Answer:
        try:
            response = self._sent(method, url, headers, body, ends_at)
            try:
                content = b"".join(response.chunks(ends_at))
            finally:
                response.close()
        except http.client.InvalidURL:
            raise
        except (OSError, http.client.HTTPException) as error:
            message = "The router did not respond."
            raise RouterError("service_unavailable", message, idempotency_key=idempotency_key) from error
        answer = Answer(response.status, response.headers, content, idempotency_key)
        if answer.status < 300:
            return answer
        try:
            payload = json.loads(content)
        except ValueError:
            payload = None
        # A proxy in between may answer with anything.
        if not isinstance(payload, dict):
            payload = {}
        if answer.status < 400:
            target = answer.headers.get("Location", "another address")
            payload = {"detail": f"The base URL redirects to {target}. Use the final URL instead."}
        # This 400 is a regular answer to a cancellation.
        if payload.get("status") == "ALREADY_COMPLETED":
            return answer
        raise _error_of(answer, payload, idempotency_key)


def _error_of(answer: Answer, payload: Dict[str, Any], idempotency_key: Optional[str]) -> RouterError:
    detail = payload.get("detail", f"The router returned HTTP {answer.status}.")
    fields = [each for each in detail if _is_field(each)] if isinstance(detail, list) else []
    message = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in fields) or str(detail)
    spend = answer.headers.get("X-Committed-Spend-Current")
    return RouterError(
        answer.headers.get("X-Service-Error-Type", "internal_error"),
        message,
        status=answer.status,
        fields=fields,
        call_id=answer.headers.get("X-Service-Request-Id"),
        run_id=answer.headers.get("X-Service-Run-Id"),
        retry_after=_seconds_until(answer.headers.get("Retry-After")),
        committed_spend_cents=None if spend is None else int(spend),
        idempotency_key=idempotency_key,
    )


def _is_field(payload: Any) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get("loc"), list) and "msg" in payload


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
    backoff_s = min(0.5 * 2 ** (tries - 1), 5.0) * random.uniform(0.75, 1.25)
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
