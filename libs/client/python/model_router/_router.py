from __future__ import annotations

from typing import Any, AsyncIterator, Iterator, Mapping, Optional, Sequence, TypeVar, Union, overload

import httpx

from ._flows import Moment
from ._model_calls import AsyncModelCalls, ModelCalls
from ._types import CancelAnswer, File, ModelEntry, Result, Run, RunRecord, StoredFile, Usage

Output = TypeVar("Output")


class Router(ModelCalls):
    """Calls a model router. `timeout` limits each method call, in seconds. It ends the wait, not the run.

    A response that stalls in the middle can hold a call for up to 30 s longer. Close the router, or use it as a context
    manager. `http_client` replaces the client that is made otherwise; it stays open.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = 900.0,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        super().__init__(base_url, key, token, timeout, http_client)

    def __enter__(self) -> "Router":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def status(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Run[Any]:
        return self._transport.perform(self._flows.status(run, timeout))

    @overload
    def collect(self, run: Run[Output], *, timeout: Optional[float] = None) -> Result[Output]: ...

    @overload
    def collect(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Result[Any]: ...

    def collect(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Result[Any]:
        """Waits for the run's result. Raises the run's error if it failed or was cancelled."""
        return self._transport.perform(self._flows.collect(run, timeout))

    def cancel(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> CancelAnswer:
        return self._transport.perform(self._flows.cancel(run, timeout))

    def upload(
        self, file: Union[File, str], *, content_type: Optional[str] = None, timeout: Optional[float] = None
    ) -> str:
        """Uploads bytes, a path or an open file, and returns its URL. Inputs may hold all of these but a path as `str`."""
        return self._transport.perform(self._flows.upload(file, content_type, timeout))

    def models(self, *, timeout: Optional[float] = None) -> Iterator[ModelEntry]:
        """Yields every model that you can run."""
        return self._transport.iterate(self._flows.list("/v2/models", {}, timeout))

    def requests(
        self,
        *,
        model: Optional[str] = None,
        status: Optional[str] = None,
        outcome: Optional[str] = None,
        error_type: Optional[str] = None,
        key: Optional[str] = None,
        tag: Optional[str] = None,
        user: Optional[str] = None,
        start: Moment = None,
        end: Moment = None,
        request_id: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[RunRecord]:
        """Yields the workspace's runs, newest first, that were admitted from `start` until `end` and match the rest.

        `key` is the id of a key, `tag` one such as `project=alpha`, `user` an end user, and `request_id` the id of a run
        or of a call that belongs to one. `start` and `end` are times with a zone.
        """
        query = {
            "model": model,
            "status": status,
            "outcome": outcome,
            "error_type": error_type,
            "key": key,
            "tag": tag,
            "user": user,
            "from": start,
            "to": end,
            "request_id": request_id,
        }
        return self._transport.iterate(self._flows.list("/v2/requests", query, timeout))

    def usage(
        self,
        group_by: Union[str, Sequence[str]] = "day",
        *,
        start: Moment = None,
        end: Moment = None,
        timeout: Optional[float] = None,
    ) -> Usage:
        """Sums the runs that ended from `start` until `end`, which are times with a zone.

        By `day`, `model`, `key` or several of them, and by `user` or the values of one tag, `tag:<name>`.
        """
        return self._transport.perform(self._flows.usage(group_by, start, end, timeout))

    def files(self, *, timeout: Optional[float] = None) -> Iterator[StoredFile]:
        """Yields the workspace's uploaded files, newest first."""
        return self._transport.iterate(self._flows.list("/v2/files", {}, timeout))

    def webhook_secret(self, *, timeout: Optional[float] = None) -> str:
        """The secret for `verify_webhook`. The key needs the scope `manage`."""
        return self._transport.perform(self._flows.webhook_secret(timeout))


class AsyncRouter(AsyncModelCalls):
    """Calls a model router from asyncio or trio, with the methods of `Router`. Use it as an async context manager.

    `timeout` limits each method call, in seconds. It ends the wait, not the run, and so does the cancellation of a task.
    `http_client` replaces the client that is made otherwise; it stays open.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = 900.0,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        super().__init__(base_url, key, token, timeout, http_client)

    async def __aenter__(self) -> "AsyncRouter":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def status(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Run[Any]:
        return await self._transport.perform(self._flows.status(run, timeout))

    @overload
    async def collect(self, run: Run[Output], *, timeout: Optional[float] = None) -> Result[Output]: ...

    @overload
    async def collect(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Result[Any]: ...

    async def collect(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> Result[Any]:
        """Waits for the run's result. Raises the run's error if it failed or was cancelled."""
        return await self._transport.perform(self._flows.collect(run, timeout))

    async def cancel(self, run: Mapping[str, object], *, timeout: Optional[float] = None) -> CancelAnswer:
        return await self._transport.perform(self._flows.cancel(run, timeout))

    async def upload(
        self, file: Union[File, str], *, content_type: Optional[str] = None, timeout: Optional[float] = None
    ) -> str:
        """Uploads bytes, a path or an open file, and returns its URL. Inputs may hold all of these but a path as `str`."""
        return await self._transport.perform(self._flows.upload(file, content_type, timeout))

    def models(self, *, timeout: Optional[float] = None) -> AsyncIterator[ModelEntry]:
        """Yields every model that you can run."""
        return self._transport.iterate(self._flows.list("/v2/models", {}, timeout))

    def requests(
        self,
        *,
        model: Optional[str] = None,
        status: Optional[str] = None,
        outcome: Optional[str] = None,
        error_type: Optional[str] = None,
        key: Optional[str] = None,
        tag: Optional[str] = None,
        user: Optional[str] = None,
        start: Moment = None,
        end: Moment = None,
        request_id: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> AsyncIterator[RunRecord]:
        """Yields the workspace's runs, newest first, that were admitted from `start` until `end` and match the rest.

        `key` is the id of a key, `tag` one such as `project=alpha`, `user` an end user, and `request_id` the id of a run
        or of a call that belongs to one. `start` and `end` are times with a zone.
        """
        query = {
            "model": model,
            "status": status,
            "outcome": outcome,
            "error_type": error_type,
            "key": key,
            "tag": tag,
            "user": user,
            "from": start,
            "to": end,
            "request_id": request_id,
        }
        return self._transport.iterate(self._flows.list("/v2/requests", query, timeout))

    async def usage(
        self,
        group_by: Union[str, Sequence[str]] = "day",
        *,
        start: Moment = None,
        end: Moment = None,
        timeout: Optional[float] = None,
    ) -> Usage:
        """Sums the runs that ended from `start` until `end`, which are times with a zone.

        By `day`, `model`, `key` or several of them, and by `user` or the values of one tag, `tag:<name>`.
        """
        return await self._transport.perform(self._flows.usage(group_by, start, end, timeout))

    def files(self, *, timeout: Optional[float] = None) -> AsyncIterator[StoredFile]:
        """Yields the workspace's uploaded files, newest first."""
        return self._transport.iterate(self._flows.list("/v2/files", {}, timeout))

    async def webhook_secret(self, *, timeout: Optional[float] = None) -> str:
        """The secret for `verify_webhook`. The key needs the scope `manage`."""
        return await self._transport.perform(self._flows.webhook_secret(timeout))
