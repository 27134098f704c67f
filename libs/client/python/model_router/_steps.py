"""What a call does, apart from doing it.

A flow is a generator that yields steps and gets back what each one brought. It holds the logic of a call. The
transports, one for `Router` and one for `AsyncRouter`, only perform the steps.
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Generator, Generic, Mapping, NamedTuple, Optional, TypeVar, Union

from ._types import File

T = TypeVar("T")

# How long the request of `Leaving` may take.
LEAVING_S = 10.0


class Request(NamedTuple):
    method: str
    url: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None


class Head(NamedTuple):
    status: int
    headers: Mapping[str, str]


class Open(NamedTuple):
    """Sends a request and brings the `Head` of its response. Times are those of `time.monotonic`."""

    request: Request
    head_by: float
    ends_at: float
    max_silence_s: float


class Chunk(NamedTuple):
    """Brings the next bytes of the response that was opened last, or none at its end."""


class Pause(NamedTuple):
    seconds: float


class Read(NamedTuple):
    """Brings the bytes of a file."""

    file: File


class Notify(NamedTuple):
    """Calls a function of the caller, which may be a coroutine function if the caller uses `AsyncRouter`."""

    function: Callable[[Any], Union[None, Awaitable[None]]]
    value: Any


class Emit(NamedTuple):
    """Hands a value to the caller, who iterates."""

    value: Any


class Leaving(NamedTuple):
    """If the caller leaves from now on, before the flow has ended, this request is sent."""

    request: Request


Step = Union[Open, Chunk, Pause, Read, Notify, Emit, Leaving]
Flow = Generator[Step, Any, T]


class ConnectionLost(Exception):
    """The network failed, or a time limit passed. The transport throws it into the flow; it never reaches the caller."""


class Progress(Generic[T]):
    """A flow that a transport performs. After each step, set `brought` or `lost`."""

    result: T

    def __init__(self, flow: Flow[T]) -> None:
        self._flow = flow
        self.brought: object = None
        self.lost: Optional[ConnectionLost] = None

    def next(self) -> Optional[Step]:
        """The next step; None at the end, when `result` is set."""
        brought, lost = self.brought, self.lost
        self.brought = self.lost = None
        try:
            return self._flow.send(brought) if lost is None else self._flow.throw(lost)
        except StopIteration as end:
            self.result = end.value
            return None


def opened(
    request: Request, ends_at: float, *, head_by: Optional[float] = None, max_silence_s: float = 30.0
) -> Flow[Head]:
    head: Head = yield Open(request, ends_at if head_by is None else head_by, ends_at, max_silence_s)
    return head


def next_chunk() -> Flow[bytes]:
    chunk: bytes = yield Chunk()
    return chunk


def content_of(file: File) -> Flow[bytes]:
    content: object = yield Read(file)
    if not isinstance(content, (bytes, bytearray)):
        raise TypeError("Files are uploaded as bytes. Open the file in mode 'rb'.")
    return bytes(content)
