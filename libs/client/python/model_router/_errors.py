from __future__ import annotations

import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

BUCKETS = (
    "invalid_input",
    "content_policy_violation",
    "provider_error",
    "provider_timeout",
    "insufficient_credits",
    "model_not_found",
    "unauthorized",
    "forbidden",
    "concurrency_limit_exceeded",
    "client_disconnected",
    "internal_error",
    "deadline_exceeded",
    "not_enabled",
    "service_unavailable",
    "rate_limited",
)


class RouterError(Exception):
    """A failed call. `bucket` says what to do about it; the message is safe to show to people.

    `status` is 0 if there was no response. `fields` lists the input fields that the model rejected, and `unknown_fields`
    maps those that it does not know, and that look like typos, to the names that were probably meant. `request_id` is the
    run that the call belongs to, if there is one, and `call_id` identifies the HTTP call. To collect a run that may have
    started, repeat the request with `idempotency_key`: it never starts a second run.
    """

    def __init__(
        self,
        bucket: str,
        message: str,
        *,
        status: int = 0,
        fields: Optional[List[Dict[str, Any]]] = None,
        unknown_fields: Optional[Dict[str, str]] = None,
        request_id: Optional[str] = None,
        call_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        committed_spend_cents: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.bucket = bucket if bucket in BUCKETS else "internal_error"
        self.status = status
        self.fields = fields or []
        self.unknown_fields = unknown_fields or {}
        self.request_id = request_id
        self.call_id = call_id
        self.retry_after = retry_after
        self.committed_spend_cents = committed_spend_cents
        self.idempotency_key = idempotency_key
        # Tracebacks show it below the message.
        if sys.version_info >= (3, 11):
            facts = {"bucket": self.bucket, "status": status, "request_id": request_id, "call_id": call_id}
            self.add_note(", ".join(f"{name}: {value}" for name, value in facts.items() if value))

    @property
    def run_id(self) -> Optional[str]:
        """The same as `request_id`."""
        return self.request_id


def unknown_fields_of(headers: Mapping[str, str]) -> Dict[str, str]:
    """The header reads `hieght (height?), widht (width?)`."""
    given = headers.get("X-Service-Unknown-Fields")
    pairs = (each.partition(" ") for each in given.split(", ")) if given else ()
    return {name: suggestion[1:-2] for name, _, suggestion in pairs}


class Ids(NamedTuple):
    request_id: Optional[str]
    call_id: Optional[str]


def ids_of(headers: Mapping[str, str]) -> Ids:
    return Ids(headers.get("X-Service-Run-Id"), headers.get("X-Service-Request-Id"))
