"""What calls take and return."""

from __future__ import annotations

import builtins
import os
from dataclasses import dataclass, field
from typing import Any, Awaitable, Dict, Generic, List, Mapping, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union

Output = TypeVar("Output")


class AnyModel(str):
    """The id of a model for which this package has no types, such as one that your operator added.

    A call with it takes any input: `router.run(AnyModel("acme/sketch"), {"prompt": "a red fox"})`.
    """


class Readable(Protocol):
    """An open file. `AsyncRouter` also takes files whose `read` is a coroutine."""

    def read(self) -> Union[bytes, Awaitable[bytes]]: ...


File = Union[bytes, bytearray, "os.PathLike[str]", Readable]
"""The content of a file, its path, or the file opened in mode 'rb'."""


@dataclass(frozen=True)
class Result(Generic[Output]):
    """The result of a run. `output` is parsed JSON, or bytes if the output is not JSON.

    `bytes` is the output exactly as received, which preserves large numbers. `cost_cents` is the billed amount.
    `request_id` identifies the run in the router's records, and `call_id` the HTTP call that returned the result.
    `unknown_fields` maps the fields of the input that the model does not know, and that look like typos, to the names
    that were probably meant. They were sent all the same. It is empty if the result is only collected.
    """

    output: Output
    bytes: builtins.bytes = field(repr=False)
    content_type: str
    cost_cents: Optional[float] = None
    request_id: Optional[str] = None
    call_id: Optional[str] = None
    unknown_fields: Mapping[str, str] = field(default_factory=lambda: {})

    @property
    def run_id(self) -> Optional[str]:
        """The same as `request_id`."""
        return self.request_id


class Run(Dict[str, Any], Generic[Output]):
    """The id, URLs and state of a run as the router returns them. It is a plain dict, so you can store it as JSON.

    Members: `request_id`, `status` (IN_QUEUE, IN_PROGRESS or COMPLETED), `status_url`, `response_url`, `cancel_url`;
    `queue_position` while it waits, `progress` (0 to 1) if the provider reports it, and `error_type` if it failed.
    """

    @property
    def request_id(self) -> str:
        return str(self["request_id"])

    @property
    def status(self) -> str:
        return str(self["status"])


class Event(NamedTuple):
    """A server-sent event of a streamed output, as the provider sent it."""

    event: str
    data: str
    id: Optional[str]


class _Quote(TypedDict):
    expected_cents: float
    reserved_cents: float
    max_cents: float


# The class syntax has no member "from", because it is a keyword.
_NextQuote = TypedDict("_NextQuote", {"from": str, "expected_cents": float, "reserved_cents": float, "max_cents": float})


class Quote(_Quote, total=False):
    """The price of a run in US cents: the expected one, the reserved one, and the most that it can cost.

    `next` is the price after the next announced change, which is on the day `from` in UTC.
    """

    next: _NextQuote


class CancelAnswer(TypedDict):
    """`status` is CANCELLATION_REQUESTED or ALREADY_COMPLETED. A requested cancellation is not guaranteed."""

    request_id: str
    status: str


class Billing(TypedDict):
    charges_on_policy_rejection: str


class ModelEntry(TypedDict):
    id: str
    provider: str
    model: str
    billing: Billing


class StoredFile(TypedDict):
    """An uploaded file. `size` is in bytes; `expires_at` is a time in ISO 8601."""

    id: str
    url: str
    content_type: str
    size: int
    expires_at: str


class _RunRecord(TypedDict):
    request_id: str
    model: str
    status: str
    created_at: str
    reserved_cents: float
    result_available: bool


class RunRecord(_RunRecord, total=False):
    """A run in the workspace's records. Members that do not apply, or are not known yet, are absent."""

    simulated: bool
    outcome: str
    error_type: str
    key_id: str
    key_name: str
    tags: Dict[str, str]
    user: str
    granted_at: str
    started_at: str
    output_at: str
    completed_at: str
    duration_ms: int
    cost_cents: float
    cost_basis: str
    status_url: str
    response_url: str
    cancel_url: str


class UsageTotal(TypedDict):
    runs: int
    succeeded: int
    cost_cents: float


class UsageGroup(UsageTotal, total=False):
    """The members `day`, `model`, `key_id`, `tags` and `user` are present if the usage is grouped by them."""

    day: str
    model: str
    key_id: str
    tags: Dict[str, str]
    user: str


Usage = TypedDict(
    "Usage", {"from": str, "to": str, "group_by": List[str], "data": List[UsageGroup], "total": UsageTotal}
)
"""The runs that ended from `from` until `to`, and their cost."""
