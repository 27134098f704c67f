from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional

from ._calls import Connection, Deadline, call, is_event_stream
from ._errors import RouterError
from ._events import EventParser
from ._steps import ConnectionLost, Flow, Step, next_chunk, opened
from ._types import Run

_MIN_PAUSE_S = 0.5
_MAX_PAUSE_S = 5.0
# The server sends at least a comment every 15 s.
_MAX_SILENCE_S = 45.0


def url_of(run: Mapping[str, object], name: str) -> str:
    try:
        return str(run[name])
    except (KeyError, TypeError):
        message = "Pass what submit, requests() or a webhook gave: it has the URLs of the run."
        raise TypeError(message) from None


def status_of(connection: Connection, run: Mapping[str, object], deadline: Deadline) -> Flow["Run[Any]"]:
    answer = yield from call(connection.request("GET", url_of(run, "status_url")), deadline)
    return Run(answer.json())


def follow(
    connection: Connection,
    run: Mapping[str, object],
    deadline: Deadline,
    show: Callable[["Run[Any]"], Iterator[Step]],
) -> Flow[None]:
    """Shows every change of the run's state until it completes. Streams, and polls while the stream is not available."""
    last: Optional[Run[Any]] = None
    has_stream = True
    pause_s = _MIN_PAUSE_S
    while True:
        try:
            if has_stream:
                states = _States()
                yield from _open_stream(connection, run, deadline)
                while chunk := (yield from next_chunk()):
                    pause_s = _MIN_PAUSE_S
                    for state in states.feed(chunk):
                        if state != last:
                            yield from show(state)
                        last = state
                        if state.status == "COMPLETED":
                            return
        except RouterError:
            has_stream = False
        except (ConnectionLost, ValueError):
            pass
        state = yield from status_of(connection, run, deadline)
        if state != last:
            yield from show(state)
        last = state
        if state.status == "COMPLETED":
            return
        yield from deadline.pause(pause_s)
        pause_s = min(pause_s * 1.5, _MAX_PAUSE_S)


def _open_stream(connection: Connection, run: Mapping[str, object], deadline: Deadline) -> Flow[None]:
    request = connection.request("GET", f"{url_of(run, 'status_url')}/stream", accept="text/event-stream")
    head_by = time.monotonic() + min(_MAX_SILENCE_S, deadline.left())
    head = yield from opened(request, deadline.ends_at, head_by=head_by, max_silence_s=_MAX_SILENCE_S)
    if not is_event_stream(head):
        raise RouterError("invalid_input", "The stream is not available.", status=head.status)


class _States:
    def __init__(self) -> None:
        self._parser = EventParser()
        self._state: Optional[Run[Any]] = None

    def feed(self, chunk: bytes) -> Iterator["Run[Any]"]:
        for event in self._parser.feed(chunk):
            payload: Dict[str, Any] = json.loads(event.data)
            if event.event != "progress":
                self._state = Run(payload)
            elif self._state is not None:
                self._state = Run(self._state, progress=payload["progress"])
            if self._state is not None:
                yield self._state
