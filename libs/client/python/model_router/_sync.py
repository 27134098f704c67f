from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any, Dict, Generator, Iterator, Optional, TypeVar, Union
from weakref import WeakSet

import httpx

from ._steps import (
    LEAVING_S,
    Chunk,
    ConnectionLost,
    Emit,
    Flow,
    Head,
    Leaving,
    Notify,
    Open,
    Pause,
    Progress,
    Read,
    Request,
)
from ._types import File

T = TypeVar("T")


class Transport:
    """Performs flows on an `httpx.Client`. It closes only a client that it made itself."""

    def __init__(self, client: Optional[httpx.Client]) -> None:
        self._is_own = client is None
        # The router limits the runs in flight, so the client does not.
        self._client = client or httpx.Client(limits=httpx.Limits(max_connections=None))
        self._iterated: "WeakSet[Generator[Any, None, None]]" = WeakSet()

    def close(self) -> None:
        for iterated in list(self._iterated):
            # A thread that is inside of it leaves it by itself.
            with suppress(ValueError):
                iterated.close()
        if self._is_own:
            self._client.close()

    def perform(self, flow: Flow[T]) -> T:
        progress = Progress(flow)
        for _ in self._emitted(progress):
            pass
        return progress.result

    def iterate(self, flow: Flow[None]) -> Iterator[Any]:
        iterated = self._emitted(Progress(flow))
        self._iterated.add(iterated)
        return iterated

    def _emitted(self, progress: Progress[T]) -> Generator[Any, None, None]:
        leaving: Optional[Request] = None
        try:
            with _Exchange(self._client) as exchange:
                while (step := progress.next()) is not None:
                    if isinstance(step, Emit):
                        yield step.value
                        continue
                    if isinstance(step, Leaving):
                        leaving = step.request
                        continue
                    try:
                        progress.brought = exchange.perform(step)
                    except ConnectionLost as error:
                        progress.lost = error
        except (GeneratorExit, KeyboardInterrupt):
            if leaving is not None:
                self._send(leaving)
            raise

    def _send(self, request: Request) -> None:
        method, url, headers, body = request
        # Nobody waits for the answer, and a run that has ended needs no cancellation.
        with suppress(httpx.HTTPError, RuntimeError):
            self._client.request(method, url, headers=dict(headers), content=body, timeout=LEAVING_S)


class _Exchange:
    """The response that a flow has open. There is at most one."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._response: Optional[httpx.Response] = None
        self._chunks: Iterator[bytes] = iter(())
        self._ends_at = 0.0

    def __enter__(self) -> "_Exchange":
        return self

    def __exit__(self, *_: object) -> None:
        if self._response is not None:
            self._response.close()

    def perform(self, step: Union[Open, Chunk, Pause, Read, Notify]) -> Any:
        if isinstance(step, Chunk):
            return self._chunk()
        if isinstance(step, Open):
            return self._open(step)
        if isinstance(step, Pause):
            self.__exit__()
            return time.sleep(step.seconds)
        if isinstance(step, Read):
            return _content(step.file)
        return step.function(step.value)

    def _open(self, step: Open) -> Head:
        self.__exit__()
        self._ends_at = step.ends_at
        left_s = max(step.head_by - time.monotonic(), 0.001)
        timeouts: Dict[str, float] = dict.fromkeys(("connect", "read", "write", "pool"), left_s)
        method, url, headers, body = step.request
        # Given here, because the client's own timeouts would be used otherwise.
        request = self._client.build_request(
            method, url, headers=dict(headers), content=body, extensions={"timeout": timeouts}
        )
        try:
            # The credential must reach only the router.
            response = self._client.send(request, stream=True, follow_redirects=False)
        except httpx.TransportError as error:
            raise ConnectionLost from error
        # httpcore reads the time limit of the body when it starts to read the body.
        timeouts["read"] = max(min(step.max_silence_s, step.ends_at - time.monotonic()), 0.001)
        self._response = response
        self._chunks = response.iter_bytes()
        return Head(response.status_code, response.headers)

    def _chunk(self) -> bytes:
        if time.monotonic() >= self._ends_at:
            raise ConnectionLost from TimeoutError("The response took too long.")
        try:
            return next((chunk for chunk in self._chunks if chunk), b"")
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise ConnectionLost from error


def _content(file: File) -> object:
    if isinstance(file, (bytes, bytearray)):
        return file
    if isinstance(file, os.PathLike):
        with open(file, "rb") as opened:
            return opened.read()
    return file.read()
