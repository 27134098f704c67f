"""The flow of each method. `Router` and `AsyncRouter` perform the same flows."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any, Awaitable, Callable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlencode

from ._calls import Answer, Connection, Deadline, call, is_event_stream
from ._errors import RouterError, ids_of, unknown_fields_of
from ._events import EventParser, failure_in
from ._follow import follow, status_of, url_of
from ._media_type import is_json
from ._steps import ConnectionLost, Emit, Flow, Head, Leaving, next_chunk, Notify, Step
from ._types import CancelAnswer, File, Quote, Result, Run, Usage
from ._uploads import uploaded, with_files_uploaded

Input = Union[Mapping[str, Any], str]
"""The input of a run. A string is sent unchanged."""
Extra = Optional[Mapping[str, Any]]
"""Fields to add to the input that the types of the model do not know."""
Moment = Union[datetime, str, None]
"""A time with a zone, or its text in ISO 8601."""
OnStatus = Optional[Callable[["Run[Any]"], Union[None, Awaitable[None]]]]
OnProgress = Optional[Callable[[float], Union[None, Awaitable[None]]]]

_SYNC_S = 3600.0


class Labels(NamedTuple):
    """What the headers of a call say about its run."""

    idempotency_key: Optional[str]
    tags: Optional[Mapping[str, str]]
    user: Optional[str]


class Flows:
    def __init__(self, base_url: str, key: Optional[str], token: Optional[str], timeout: float) -> None:
        self._connection = Connection(base_url, key, token)
        self._timeout = timeout

    def run(
        self, model: str, input: Input, extra: Extra, labels: Labels, timeout: Optional[float]
    ) -> Flow["Result[Any]"]:
        answer = yield from self._requested(
            f"/v2/models/{_path_of(model)}", input, extra, labels, self._deadline(timeout), _SYNC_S
        )
        return _result(answer)

    def submit(
        self,
        model: str,
        input: Input,
        extra: Extra,
        labels: Labels,
        webhook_url: Optional[str],
        timeout: Optional[float],
    ) -> Flow["Run[Any]"]:
        deadline = self._deadline(timeout)
        submission = yield from self._submitted(model, input, extra, labels, webhook_url, deadline)
        return Run(submission.json())

    def subscribe(
        self,
        model: str,
        input: Input,
        extra: Extra,
        on_status: OnStatus,
        on_progress: OnProgress,
        labels: Labels,
        webhook_url: Optional[str],
        timeout: Optional[float],
    ) -> Flow["Result[Any]"]:
        deadline = self._deadline(timeout)
        submission = yield from self._submitted(model, input, extra, labels, webhook_url, deadline)
        run: Run[Any] = Run(submission.json())
        shown = _Shown(on_status, on_progress)
        yield from shown.steps(run)
        yield from follow(self._connection, run, deadline, shown.steps)
        result = yield from self._collected(run, deadline)
        return replace(result, unknown_fields=unknown_fields_of(submission.headers))

    def stream(
        self, model: str, input: Input, extra: Extra, labels: Labels, timeout: Optional[float]
    ) -> Flow[None]:
        if isinstance(input, str):
            raise TypeError("Pass the input of a stream as a mapping, because the client adds a member to it.")
        deadline = self._deadline(timeout)
        # Gemini's inputs have no member for it: the query requests the stream.
        by_query = "contents" in input
        answer = yield from self._requested(
            f"/v2/models/{_path_of(model)}{'?alt=sse' if by_query else ''}",
            input if by_query else {**input, "stream": True},
            extra,
            labels,
            deadline,
            _SYNC_S,
            is_stream=True,
        )
        request_id, call_id = ids_of(answer.headers)
        # Nobody knows the generated key, so nobody could collect the rest.
        if request_id is not None and labels.idempotency_key is None:
            cancel_path = f"/v2/models/{_path_of(model)}/requests/{request_id}/cancel"
            yield Leaving(self._connection.request("PUT", cancel_path))

        def failure(bucket: str, message: str) -> RouterError:
            return RouterError(
                bucket,
                message,
                status=answer.status,
                request_id=request_id,
                call_id=call_id,
                idempotency_key=answer.idempotency_key,
            )

        if not is_event_stream(Head(answer.status, answer.headers)):
            message = "The model sent its output as a whole. Collect it by `run`, with the same input and key."
            raise failure("invalid_input", message)
        parser = EventParser()
        try:
            while chunk := (yield from next_chunk()):
                for event in parser.feed(chunk):
                    failed = failure_in(event)
                    if failed is not None:
                        raise failure(*failed)
                    yield Emit(event)
        except ConnectionLost as error:
            deadline.left(answer.idempotency_key)
            raise failure("service_unavailable", "The stream broke off.") from error.__cause__

    def cost(self, model: str, input: Input, extra: Extra, timeout: Optional[float]) -> Flow[Quote]:
        deadline = self._deadline(timeout)
        body = yield from self._body(input, extra, deadline)
        request = self._connection.request(
            "POST", f"/v2/models/{_path_of(model)}/cost", body=body, content_type="application/json"
        )
        quoted: Quote = (yield from call(request, deadline)).json()
        return quoted

    def status(self, run: Mapping[str, object], timeout: Optional[float]) -> Flow["Run[Any]"]:
        return (yield from status_of(self._connection, run, self._deadline(timeout)))

    def follow(self, run: Mapping[str, object], timeout: Optional[float]) -> Flow[None]:
        def show(state: Run[Any]) -> Iterator[Step]:
            yield Emit(state)

        yield from follow(self._connection, run, self._deadline(timeout), show)

    def collect(self, run: Mapping[str, object], timeout: Optional[float]) -> Flow["Result[Any]"]:
        return (yield from self._collected(run, self._deadline(timeout)))

    def cancel(self, run: Mapping[str, object], timeout: Optional[float]) -> Flow[CancelAnswer]:
        request = self._connection.request("PUT", url_of(run, "cancel_url"))
        answer: CancelAnswer = (yield from call(request, self._deadline(timeout))).json()
        return answer

    def upload(self, file: Union[File, str], content_type: Optional[str], timeout: Optional[float]) -> Flow[str]:
        return (yield from uploaded(self._connection, file, content_type, self._deadline(timeout)))

    def list(
        self, path: str, query: Mapping[str, Union[str, datetime, None]], timeout: Optional[float]
    ) -> Flow[None]:
        """Emits each entry of a list that comes in pages. `timeout` limits each page."""
        parameters = _parameters({**query, "limit": "100"})
        while True:
            request = self._connection.request("GET", f"{path}?{urlencode(parameters)}")
            page = (yield from call(request, self._deadline(timeout))).json()
            for entry in page["data"]:
                yield Emit(entry)
            if not page["has_more"]:
                return
            parameters["cursor"] = page["next_cursor"]

    def usage(
        self, group_by: Union[str, Sequence[str]], start: Moment, end: Moment, timeout: Optional[float]
    ) -> Flow[Usage]:
        grouping = group_by if isinstance(group_by, str) else ",".join(group_by)
        query = urlencode(_parameters({"group_by": grouping, "from": start, "to": end}))
        request = self._connection.request("GET", f"/v2/usage?{query}")
        usage: Usage = (yield from call(request, self._deadline(timeout))).json()
        return usage

    def webhook_secret(self, timeout: Optional[float]) -> Flow[str]:
        request = self._connection.request("GET", "/v2/webhooks/secret")
        return str((yield from call(request, self._deadline(timeout))).json()["secret"])

    def _deadline(self, timeout: Optional[float]) -> Deadline:
        return Deadline(self._timeout if timeout is None else timeout)

    def _submitted(
        self,
        model: str,
        input: Input,
        extra: Extra,
        labels: Labels,
        webhook_url: Optional[str],
        deadline: Deadline,
    ) -> Flow[Answer]:
        query = "" if webhook_url is None else f"?webhook_url={quote(webhook_url, safe='')}"
        path = f"/v2/models/{_path_of(model)}/requests{query}"
        return (yield from self._requested(path, input, extra, labels, deadline))

    def _collected(self, run: Mapping[str, object], deadline: Deadline) -> Flow["Result[Any]"]:
        def is_outcome(error: RouterError) -> Flow[bool]:
            if error.status == 0:
                return False
            state = yield from status_of(self._connection, run, deadline)
            return state.get("error_type") == error.bucket

        def show(_: Run[Any]) -> Iterator[Step]:
            return iter(())

        request = self._connection.request("GET", url_of(run, "response_url"))
        while True:
            answer = yield from call(request, deadline, try_s=_SYNC_S, is_outcome=is_outcome)
            if answer.status != 202:
                return _result(answer)
            yield from follow(self._connection, run, deadline, show)

    def _requested(
        self,
        path: str,
        input: Input,
        extra: Extra,
        labels: Labels,
        deadline: Deadline,
        try_s: float = 60.0,
        is_stream: bool = False,
    ) -> Flow[Answer]:
        # Files are uploaded first, so that every attempt sends the same bytes.
        body = yield from self._body(input, extra, deadline)
        request = self._connection.request(
            "POST",
            path,
            body=body,
            content_type="application/json",
            idempotency_key=labels.idempotency_key or str(uuid.uuid4()),
            tags=_tags_text(labels.tags or {}) or None,
            user=labels.user,
        )
        return (yield from call(request, deadline, try_s=try_s, leave_stream_open=is_stream))

    def _body(self, input: Input, extra: Extra, deadline: Deadline) -> Flow[bytes]:
        if isinstance(input, str):
            if extra is not None:
                raise TypeError("A string as the input is sent unchanged. Pass a mapping to add extra fields to it.")
            return input.encode()
        sent = yield from with_files_uploaded(self._connection, {**input, **(extra or {})}, deadline)
        return json.dumps(sent).encode()


class _Shown:
    """Tells the caller's functions about a run's states: `on_progress` about progress, `on_status` about the rest."""

    def __init__(self, on_status: OnStatus, on_progress: OnProgress) -> None:
        self._on_status = on_status
        self._on_progress = on_progress
        self._state: Mapping[str, object] = {}

    def steps(self, run: "Run[Any]") -> Iterator[Step]:
        progress: Optional[float] = run.get("progress")
        state = {name: member for name, member in run.items() if name != "progress"}
        if state != self._state and self._on_status is not None:
            yield Notify(self._on_status, run)
        if progress is not None and self._on_progress is not None:
            yield Notify(self._on_progress, progress)
        self._state = state


def _path_of(model: str) -> str:
    if "/" not in model:
        raise ValueError(f'{model!r} is not a model id: write provider/model, such as "bfl/flux-2-pro".')
    # Nothing in an id may add a segment or a query, because another path may run something else.
    provider, name = model.split("/", 1)
    return f"{quote(provider, safe=':@')}/{quote(name, safe=':@')}"


def _tags_text(tags: Mapping[str, str]) -> str:
    for name, value in tags.items():
        if "," in name + value or "=" in name:
            raise ValueError(f"The tag {name}={value} has a comma, or an equals sign in its name.")
    return ",".join(f"{name}={value}" for name, value in tags.items())


def _parameters(query: Mapping[str, Union[str, datetime, None]]) -> "dict[str, str]":
    texts: List[Tuple[str, str]] = []
    for name, value in query.items():
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise ValueError(f"{name} has no time zone. Use datetime.now(timezone.utc), for example.")
            value = value.isoformat()
        if value is not None:
            texts.append((name, value))
    return dict(texts)


def _result(answer: Answer) -> "Result[Any]":
    kind = answer.headers.get("Content-Type", "")
    cost = answer.headers.get("X-Service-Cost-Cents")
    request_id, call_id = ids_of(answer.headers)
    return Result(
        output=answer.json() if is_json(kind) else answer.body,
        bytes=answer.body,
        content_type=kind,
        cost_cents=None if cost is None else float(cost),
        request_id=request_id,
        call_id=call_id,
        unknown_fields=unknown_fields_of(answer.headers),
    )
