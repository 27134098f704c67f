from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Mapping, Sequence, Union

_TOLERANCE_S = 300.0


class WebhookVerificationError(Exception):
    """The request is not from the router, or is too old: answer it with 400 and believe nothing in it."""


def verify_webhook(
    body: Union[bytes, str], headers: Mapping[str, str], secret: Union[str, Sequence[str]]
) -> Dict[str, Any]:
    """The event that a request brings, verified as Standard Webhooks has it.

    `body` is the body as it came, before any parsing; of two secrets, as during a rotation, either is good.
    Raises `ValueError` for a secret that is empty or no base64: that is a mistake of your configuration.
    """
    secrets = [secret] if isinstance(secret, str) else secret
    keys = [_key_of(each, number) for number, each in enumerate(secrets, start=1)]
    text = body if isinstance(body, bytes) else body.encode()
    named = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp, signatures = (
            named[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
        age_s = abs(time.time() - float(timestamp))
    except (KeyError, ValueError) as error:
        raise WebhookVerificationError("A header is missing or malformed.") from error
    if not age_s <= _TOLERANCE_S:
        raise WebhookVerificationError("The timestamp is too far from now.")
    signed = f"{message_id}.{timestamp}.".encode() + text
    for key in keys:
        wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        for signature in signatures.split(" "):
            if hmac.compare_digest(signature.encode(), wanted.encode()):
                return json.loads(text)
    raise WebhookVerificationError("No signature is of this secret.")


def _key_of(secret: str, number: int) -> bytes:
    """An empty key is one that everybody knows."""
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError(f"Secret {number} is empty, or no base64.")
    return key
