from __future__ import annotations

import inspect
import os
import time
from contextlib import suppress
from typing import Any, AsyncGenerator, AsyncIterator, Awaitable, Optional, TypeVar, Union, cast
from weakref import WeakSet

import anyio
import anyio.to_thread
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


class AsyncTransport:
    """Performs flows on an `httpx.AsyncClient`, with asyncio or trio. It closes only a client that it made itself."""

    def __init__(self, client: Optional[httpx.AsyncClient]) -> None:
        self._is_own = client is None
        # The router limits the runs in flight, so the client does not.
        self._client = client or httpx.AsyncClient(limits=httpx.Limits(max_connections=None))
        self._iterated: "WeakSet[AsyncGenerator[Any, None]]" = WeakSet()

    async def close(self) -> None:
        for iterated in list(self._iterated):
            # A task that is inside of it leaves it by itself.
            with suppress(RuntimeError):
                await iterated.aclose()
        if self._is_own:
            await self._client.aclose()

    async def perform(self, flow: Flow[T]) -> T:
        progress = Progress(flow)
        async for _ in self._emitted(progress):
            pass
        return progress.result

    def iterate(self, flow: Flow[None]) -> AsyncIterator[Any]:
        iterated = self._emitted(Progress(flow))
        self._iterated.add(iterated)
        return iterated

    async def _emitted(self, progress: Progress[T]) -> AsyncGenerator[Any, None]:
        leaving: Optional[Request] = None
        try:
            async with _Exchange(self._client) as exchange:
                while (step := progress.next()) is not None:
                    if isinstance(step, Emit):
                        yield step.value
                        continue
                    if isinstance(step, Leaving):
                        leaving = step.request
                        continue
                    try:
                        progress.brought = await exchange.perform(step)
                    except ConnectionLost as error:
                        progress.lost = error
        except (GeneratorExit, anyio.get_cancelled_exc_class()):
            if leaving is not None:
                await self._send(leaving)
            raise

    async def _send(self, request: Request) -> None:
        method, url, headers, body = request
        # Nobody waits for the answer, and a run that has ended needs no cancellation. A cancelled task sends it, too.
        with suppress(httpx.HTTPError, RuntimeError), anyio.CancelScope(shield=True):
            await self._client.request(method, url, headers=dict(headers), content=body, timeout=LEAVING_S)


class _Exchange:
    """The response that a flow has open. There is at most one."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._response: Optional[httpx.Response] = None
        self._chunks: Optional[AsyncIterator[bytes]] = None
        self._ends_at = 0.0
        self._max_silence_s = 0.0

    async def __aenter__(self) -> "_Exchange":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._response is not None:
            # A cancelled call returns its connection, too.
            with anyio.move_on_after(5, shield=True):
                await self._response.aclose()

    async def perform(self, step: Union[Open, Chunk, Pause, Read, Notify]) -> Any:
        if isinstance(step, Chunk):
            return await self._chunk()
        if isinstance(step, Open):
            return await self._open(step)
        if isinstance(step, Pause):
            await self.__aexit__()
            return await anyio.sleep(step.seconds)
        if isinstance(step, Read):
            return await _content(step.file)
        answer = step.function(step.value)
        return await answer if inspect.isawaitable(answer) else answer

    async def _open(self, step: Open) -> Head:
        await self.__aexit__()
        self._ends_at, self._max_silence_s = step.ends_at, step.max_silence_s
        method, url, headers, body = step.request
        request = self._client.build_request(method, url, headers=dict(headers), content=body, timeout=None)
        try:
            with anyio.fail_after(max(step.head_by - time.monotonic(), 0.0)):
                # The credential must reach only the router.
                response = await self._client.send(request, stream=True, follow_redirects=False)
        except (httpx.TransportError, TimeoutError) as error:
            raise ConnectionLost from error
        self._response = response
        self._chunks = response.aiter_bytes()
        return Head(response.status_code, response.headers)

    async def _chunk(self) -> bytes:
        left_s = min(self._ends_at - time.monotonic(), self._max_silence_s)
        try:
            with anyio.fail_after(max(left_s, 0.0)):
                async for chunk in cast(AsyncIterator[bytes], self._chunks):
                    if chunk:
                        return chunk
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            raise ConnectionLost from error
        return b""


async def _content(file: File) -> object:
    """Reads files in a thread, so that the event loop goes on meanwhile."""
    if isinstance(file, (bytes, bytearray)):
        return file
    if isinstance(file, os.PathLike):
        return await anyio.Path(file).read_bytes()
    content: object = await anyio.to_thread.run_sync(file.read)
    return await cast(Awaitable[object], content) if inspect.isawaitable(content) else content
