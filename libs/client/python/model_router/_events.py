from __future__ import annotations

import json
import re
from typing import Iterator, List, Optional, Tuple

from ._errors import BUCKETS
from ._types import Event

_LINE_END = re.compile(rb"\r\n?|\n")


class EventParser:
    """Splits the bytes of a text/event-stream into events, as the HTML standard says."""

    def __init__(self) -> None:
        # Joined only at the end of the line, so a long line costs no more in many chunks.
        self._begun: List[bytes] = []
        self._is_after_return = False
        self._is_first = True
        self._event = ""
        self._data: List[str] = []
        self._id: Optional[str] = None

    def feed(self, chunk: bytes) -> Iterator[Event]:
        if not chunk:
            return
        # A line feed is the second half of a line break that the previous chunk began.
        parts = _LINE_END.split(chunk[1:] if self._is_after_return and chunk.startswith(b"\n") else chunk)
        self._is_after_return = chunk.endswith(b"\r")
        for part in parts[:-1]:
            text = b"".join((*self._begun, part)).decode("utf-8", "replace")
            self._begun.clear()
            if self._is_first:
                text = text.removeprefix("\ufeff")
                self._is_first = False
            event = self._line(text)
            if event is not None:
                yield event
        self._begun.append(parts[-1])

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


def failure_in(event: Event) -> Optional[Tuple[str, str]]:
    """The bucket and the text of the router's own error, which ends a stream whose run failed."""
    if event.event != "error":
        return None
    try:
        body = json.loads(event.data)
        bucket, detail = body["error_type"], body["detail"]
    except (ValueError, LookupError, TypeError):
        return None
    return (bucket, str(detail)) if bucket in BUCKETS else None
