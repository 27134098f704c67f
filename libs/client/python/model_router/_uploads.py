from __future__ import annotations

import mimetypes
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, TypeGuard, Union

from ._calls import Connection, Deadline, call
from ._json import is_array, is_object
from ._steps import Flow, content_of
from ._types import File

_UPLOAD_S = 600.0


def uploaded(
    connection: Connection, file: Union[File, str], content_type: Optional[str], deadline: Deadline
) -> Flow[str]:
    source = Path(file) if isinstance(file, str) else file
    content = yield from content_of(source)
    kind = content_type or _guessed_type(source) or "application/octet-stream"
    request = connection.request("POST", "/v2/files", body=content, content_type=kind)
    answer = yield from call(request, deadline, try_s=_UPLOAD_S)
    return str(answer.json()["url"])


def with_files_uploaded(connection: Connection, input: Any, deadline: Deadline) -> Flow[Any]:
    """The input with each file replaced by its URL. A file that occurs twice is uploaded once."""
    return (yield from _replaced(connection, input, deadline, {}))


def _replaced(connection: Connection, value: object, deadline: Deadline, urls: Dict[int, str]) -> Flow[Any]:
    if is_object(value):
        members: Dict[str, Any] = {}
        for name, member in value.items():
            members[name] = yield from _replaced(connection, member, deadline, urls)
        return members
    if is_array(value):
        items: List[Any] = []
        for item in value:
            items.append((yield from _replaced(connection, item, deadline, urls)))
        return items
    if _is_file(value):
        if id(value) not in urls:
            urls[id(value)] = yield from uploaded(connection, value, None, deadline)
        return urls[id(value)]
    return value


def _is_file(value: object) -> TypeGuard[File]:
    return isinstance(value, (bytes, bytearray, os.PathLike)) or hasattr(value, "read")


def _guessed_type(file: File) -> Optional[str]:
    """The router reads the media type from the content, except for text and meshes."""
    name = os.fspath(file) if isinstance(file, os.PathLike) else getattr(file, "name", None)
    return mimetypes.guess_type(name)[0] if isinstance(name, str) else None
