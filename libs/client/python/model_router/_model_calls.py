"""The methods whose types depend on the model.

The build adds a stub to this module, with an overload for each model. Here they take any model.
"""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Coroutine, Iterator, Mapping, Optional, Union, cast, overload

import httpx

from ._async import AsyncTransport
from ._flows import Extra, Flows, Input, Labels, OnProgress, OnStatus
from ._sync import Transport
from ._types import Event, Quote, Result, Run


class ModelCalls:
    def __init__(
        self, base_url: str, key: Optional[str], token: Optional[str], timeout: float, client: Optional[httpx.Client]
    ) -> None:
        self._flows = Flows(base_url, key, token, timeout)
        self._transport = Transport(client)

    def run(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result[Any]:
        """Runs a model and waits for its result on one connection. A string as the input is sent unchanged.

        Files in the input are uploaded. `extra` adds fields that the types of the model do not know. `tags` and
        `user` name your projects and your end user in `requests` and `usage`.
        """
        labels = Labels(idempotency_key, tags, user)
        return self._transport.perform(self._flows.run(model, input, extra, labels, timeout))

    def submit(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Run[Any]:
        """Queues a run and returns its request_id and URLs, which are all that the other methods need."""
        labels = Labels(idempotency_key, tags, user)
        flow = self._flows.submit(model, input, extra, labels, webhook_url, timeout)
        return self._transport.perform(flow)

    @overload
    def subscribe(self, model: Mapping[str, object], *, timeout: Optional[float] = None) -> Iterator[Run[Any]]: ...

    @overload
    def subscribe(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        on_status: Optional[Callable[[Run[Any]], None]] = None,
        on_progress: Optional[Callable[[float], None]] = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result[Any]: ...

    def subscribe(
        self,
        model: Union[str, Mapping[str, object]],
        input: Optional[Input] = None,
        *,
        extra: Extra = None,
        on_status: OnStatus = None,
        on_progress: OnProgress = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Union[Result[Any], Iterator[Run[Any]]]:
        """Queues a run, calls `on_status` and `on_progress` while it runs, and returns its result.

        With a submitted run in place of a model and its input, yields every change of its state until it completes.
        """
        if not isinstance(model, str):
            return cast(Iterator[Run[Any]], self._transport.iterate(self._flows.follow(model, timeout)))
        if input is None:
            raise TypeError("Pass the input of the model.")
        labels = Labels(idempotency_key, tags, user)
        flow = self._flows.subscribe(model, input, extra, on_status, on_progress, labels, webhook_url, timeout)
        return self._transport.perform(flow)

    def stream(
        self,
        model: str,
        input: Mapping[str, Any],
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[Event]:
        """Runs a model that can stream its output, and yields the provider's server-sent events as they come.

        Leaving the stream cancels the run, unless you passed an `idempotency_key`: then the run continues, and the same
        call with the same key streams it again.
        """
        labels = Labels(idempotency_key, tags, user)
        return self._transport.iterate(self._flows.stream(model, input, extra, labels, timeout))

    def cost(
        self, model: str, input: Input, *, extra: Extra = None, timeout: Optional[float] = None
    ) -> Quote:
        """What a run would cost. It runs nothing and costs nothing, but files in the input are uploaded."""
        return self._transport.perform(self._flows.cost(model, input, extra, timeout))


class AsyncModelCalls:
    def __init__(
        self,
        base_url: str,
        key: Optional[str],
        token: Optional[str],
        timeout: float,
        client: Optional[httpx.AsyncClient],
    ) -> None:
        self._flows = Flows(base_url, key, token, timeout)
        self._transport = AsyncTransport(client)

    async def run(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Result[Any]:
        """Runs a model and waits for its result on one connection. A string as the input is sent unchanged.

        Files in the input are uploaded. `extra` adds fields that the types of the model do not know. `tags` and
        `user` name your projects and your end user in `requests` and `usage`.
        """
        labels = Labels(idempotency_key, tags, user)
        return await self._transport.perform(self._flows.run(model, input, extra, labels, timeout))

    async def submit(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Run[Any]:
        """Queues a run and returns its request_id and URLs, which are all that the other methods need."""
        labels = Labels(idempotency_key, tags, user)
        flow = self._flows.submit(model, input, extra, labels, webhook_url, timeout)
        return await self._transport.perform(flow)

    @overload
    def subscribe(
        self, model: Mapping[str, object], *, timeout: Optional[float] = None
    ) -> AsyncIterator[Run[Any]]: ...

    @overload
    def subscribe(
        self,
        model: str,
        input: Input,
        *,
        extra: Extra = None,
        on_status: OnStatus = None,
        on_progress: OnProgress = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Coroutine[Any, Any, Result[Any]]: ...

    def subscribe(
        self,
        model: Union[str, Mapping[str, object]],
        input: Optional[Input] = None,
        *,
        extra: Extra = None,
        on_status: OnStatus = None,
        on_progress: OnProgress = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        webhook_url: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Union[Coroutine[Any, Any, Result[Any]], AsyncIterator[Run[Any]]]:
        """Queues a run, calls `on_status` and `on_progress` while it runs, and returns its result.

        Both may be coroutine functions. With a submitted run in place of a model and its input, yields every change of
        its state until it completes.
        """
        if not isinstance(model, str):
            return cast(AsyncIterator[Run[Any]], self._transport.iterate(self._flows.follow(model, timeout)))
        if input is None:
            raise TypeError("Pass the input of the model.")
        labels = Labels(idempotency_key, tags, user)
        flow = self._flows.subscribe(model, input, extra, on_status, on_progress, labels, webhook_url, timeout)
        return self._transport.perform(flow)

    def stream(
        self,
        model: str,
        input: Mapping[str, Any],
        *,
        extra: Extra = None,
        idempotency_key: Optional[str] = None,
        tags: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> AsyncIterator[Event]:
        """Runs a model that can stream its output, and yields the provider's server-sent events as they come.

        Leaving the stream cancels the run, unless you passed an `idempotency_key`: then the run continues, and the same
        call with the same key streams it again.
        """
        labels = Labels(idempotency_key, tags, user)
        return self._transport.iterate(self._flows.stream(model, input, extra, labels, timeout))

    async def cost(
        self, model: str, input: Input, *, extra: Extra = None, timeout: Optional[float] = None
    ) -> Quote:
        """What a run would cost. It runs nothing and costs nothing, but files in the input are uploaded."""
        return await self._transport.perform(self._flows.cost(model, input, extra, timeout))
