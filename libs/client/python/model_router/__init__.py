"""Client for a model router.

    with Router("https://router.example.com", key="rk_live_…") as router:
        print(router.run("bfl/flux-2-pro", {"prompt": "a red fox in the snow"}).output)
"""

from ._errors import RouterError
from ._router import AsyncRouter, Router
from ._types import (
    AnyModel,
    CancelAnswer,
    Event,
    File,
    ModelEntry,
    Quote,
    Result,
    Run,
    RunRecord,
    StoredFile,
    Usage,
)
from ._webhook import WebhookEvent, WebhookVerificationError, verify_webhook

# Tracebacks name the classes as callers import them.
for _public in (AsyncRouter, Result, Router, RouterError, Run, WebhookVerificationError):
    _public.__module__ = __name__

__all__ = [
    "AnyModel",
    "AsyncRouter",
    "CancelAnswer",
    "Event",
    "File",
    "ModelEntry",
    "Quote",
    "Result",
    "Router",
    "RouterError",
    "Run",
    "RunRecord",
    "StoredFile",
    "Usage",
    "WebhookEvent",
    "WebhookVerificationError",
    "verify_webhook",
]
