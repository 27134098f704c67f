from __future__ import annotations

import re
from typing import Iterator, List, Optional

from ._types import Event

# CR LF, LF and CR end a line. A CR at the end of a chunk may be the first half of CR LF.
_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)


class EventParser:
    """Splits the bytes of a text/event-stream into events, as the HTML standard says."""

    def __init__(self) -> None:
        self._rest = b""
        self._is_first = True
        self._event = ""
        self._data: List[str] = []
        self._id: Optional[str] = None

    def feed(self, chunk: bytes) -> Iterator[Event]:
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        for line in lines:
            text = line.decode("utf-8", "replace")
            if self._is_first:
                text = text.removeprefix("\ufeff")
                self._is_first = False
            event = self._line(text)
            if event is not None:
                yield event

    def end(self) -> Iterator[Event]:
        """The last event, if a CR was its end. A server that stops in the middle of an event has not sent it."""
        if self._rest.endswith(b"\r"):
            yield from self.feed(b"\n")

    def _line(self, line: str) -> Optional[Event]:
        if line == "":
            event = Event(self._event or "message", "\n".join(self._data), self._id) if self._data else None
            self._event, self._data = "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        return None
