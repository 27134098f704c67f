from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Iterable, Protocol, Sequence, Tuple, TypedDict, Union

_TOLERANCE_S = 300.0


class WebhookVerificationError(Exception):
    """The request is not from the router, or is too old. Respond with 400 and do not trust its content."""


class WebhookEvent(TypedDict):
    """A call about a completed run. `data` is its status, as `Router.status` returns it."""

    type: str
    timestamp: str
    data: Dict[str, Any]


class _Headers(Protocol):
    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify_webhook(
    body: Union[bytes, str], headers: _Headers, secret: Union[str, Sequence[str]]
) -> WebhookEvent:
    """Verifies a webhook request as Standard Webhooks specifies, and returns its event.

    `body` is the raw body, before any parsing: `await request.body()` in FastAPI, `request.get_data()` in Flask and
    `request.body` in Django. `headers` is the framework's `request.headers`. An event may arrive more than once, with the
    same `webhook-id`. During a rotation, pass both secrets; a signature by either is valid. Raises `ValueError` if a
    secret is empty or not base64, which is an error in your configuration.
    """
    if not isinstance(body, (bytes, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("Pass the raw body as bytes or str. A body that was parsed cannot be verified.")
    secrets = [secret] if isinstance(secret, str) else secret
    keys = [_key_of(each, number) for number, each in enumerate(secrets, start=1)]
    named = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp, signatures = (
            named[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
        age_s = abs(time.time() - float(timestamp))
        # Half a character, as a header in another encoding may have, is a UnicodeEncodeError, which is a ValueError.
        text = body if isinstance(body, bytes) else body.encode()
        signed = f"{message_id}.{timestamp}.".encode() + text
        given = [each.encode() for each in signatures.split(" ")]
    except (KeyError, ValueError) as error:
        raise WebhookVerificationError("The body or a header is missing or malformed.") from error
    if not age_s <= _TOLERANCE_S:
        raise WebhookVerificationError("The timestamp is too far from now.")
    for key in keys:
        wanted = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for signature in given:
            if hmac.compare_digest(signature, wanted):
                event: WebhookEvent = json.loads(text)
                return event
    raise WebhookVerificationError("No signature matches the secret.")


def _key_of(secret: str, number: int) -> bytes:
    """Rejects an empty key, because anyone could sign with it."""
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError(f"Secret {number} is empty or not base64.")
    return key
