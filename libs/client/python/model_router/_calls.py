from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional
from urllib.parse import urlsplit

from ._errors import RouterError

_MAX_TRIES = 5


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Deadline:
    """When a method gives up."""

    def __init__(self, timeout_s: float) -> None:
        self._ends_at = time.monotonic() + timeout_s

    def left(self, idempotency_key: Optional[str] = None) -> float:
        left_s = self._ends_at - time.monotonic()
        if left_s <= 0:
            message = "The time limit of the call has passed."
            raise RouterError("deadline_exceeded", message, idempotency_key=idempotency_key)
        return left_s

    def pause(self, seconds: float, idempotency_key: Optional[str] = None) -> None:
        time.sleep(min(seconds, self.left(idempotency_key)))
        self.left(idempotency_key)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The credential goes to the router only."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Connection:
    def __init__(self, base_url: str, credential: Dict[str, str]) -> None:
        self._base_url = base_url
        self._credential = credential
        self._opener = urllib.request.build_opener(_NoRedirects())

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
    ) -> Answer:
        """Makes a request until it is answered, as often as that can neither start nor cost anything twice."""
        request = self._request(method, url, body)
        if content_type is not None:
            request.add_header("Content-Type", content_type)
        if idempotency_key is not None:
            request.add_header("Idempotency-Key", idempotency_key)
        tries = 1
        while True:
            try:
                return self._tried(request, min(try_s, deadline.left(idempotency_key)), idempotency_key)
            except RouterError as error:
                wait_s = _wait_before_retry(error, tries)
                if wait_s is None:
                    raise
                deadline.pause(wait_s, idempotency_key)
            tries += 1

    def lines(self, url: str, deadline: Deadline, max_silence_s: float) -> Iterator[str]:
        """The lines of a stream of events; raises `RouterError` where there is none."""
        request = self._request("GET", url, None)
        request.add_header("Accept", "text/event-stream")
        try:
            response = self._opener.open(request, timeout=min(max_silence_s, deadline.left()))
        except urllib.error.HTTPError as error:
            error.close()
            raise RouterError("invalid_input", "There is no such stream.", status=error.code) from None
        with response:
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise RouterError("invalid_input", "There is no such stream.", status=response.status)
            for line in response:
                deadline.left()
                yield line.decode().rstrip("\r\n")

    def _request(self, method: str, url: str, body: Optional[bytes]) -> urllib.request.Request:
        """Addresses that the router gave are called at the origin that the key is for."""
        if url.startswith("/"):
            address = self._base_url + url
        else:
            own, given = urlsplit(self._base_url), urlsplit(url)
            address = given._replace(scheme=own.scheme, netloc=own.netloc).geturl()
        return urllib.request.Request(address, body, dict(self._credential), method=method)

    def _tried(
        self, request: urllib.request.Request, timeout_s: float, idempotency_key: Optional[str]
    ) -> Answer:
        try:
            try:
                with self._opener.open(request, timeout=timeout_s) as response:
                    return Answer(response.status, response.headers, response.read())
            except urllib.error.HTTPError as error:
                with error:
                    answer = Answer(error.code, error.headers, error.read())
        except (OSError, http.client.HTTPException) as error:
            message = "The router did not answer."
            raise RouterError("service_unavailable", message, idempotency_key=idempotency_key) from error
        try:
            said = answer.json()
        except ValueError:
            said = None
        # What stands between us and the router may answer with anything.
        if not isinstance(said, dict):
            said = {}
        # Such a refusal of a cancellation is an answer.
        if said.get("status") == "ALREADY_COMPLETED":
            return answer
        raise _error_of(answer, said, idempotency_key)


def _error_of(answer: Answer, said: Dict[str, Any], idempotency_key: Optional[str]) -> RouterError:
    detail = said.get("detail", f"The router answered {answer.status}.")
    fields = [each for each in detail if _is_field(each)] if isinstance(detail, list) else []
    message = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in fields) or str(detail)
    spend = answer.headers.get("X-Committed-Spend-Current")
    return RouterError(
        answer.headers.get("X-Service-Error-Type", "internal_error"),
        message,
        status=answer.status,
        fields=fields,
        call_id=answer.headers.get("X-Service-Request-Id"),
        retry_after=_seconds_until(answer.headers.get("Retry-After")),
        committed_spend_cents=None if spend is None else int(spend),
        idempotency_key=idempotency_key,
    )


def _is_field(said: Any) -> bool:
    return isinstance(said, dict) and isinstance(said.get("loc"), list) and "msg" in said


def _seconds_until(retry_after: Optional[str]) -> Optional[float]:
    """The router says seconds; a proxy may give a date, or something else."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _wait_before_retry(error: RouterError, tries: int) -> Optional[float]:
    """None where a retry is of no use, or is the caller's to decide."""
    backoff_s = min(0.5 * 2 ** (tries - 1), 5.0) * random.uniform(0.75, 1.25)
    wait_s = backoff_s if error.retry_after is None else error.retry_after
    # The run is under way, and the same key collects it.
    if error.bucket == "deadline_exceeded" and error.status == 504 and error.idempotency_key:
        return wait_s
    # Nothing was started. There is room when a run of the workspace has ended, unless none is in flight.
    if error.bucket == "concurrency_limit_exceeded" and error.idempotency_key:
        return None if error.committed_spend_cents == 0 else wait_s
    if error.bucket == "service_unavailable" and tries < _MAX_TRIES:
        return wait_s
    return None
