from __future__ import annotations

import re

_TOKEN = r"[A-Za-z0-9_!#$%&'*+.^`|~-]+"
_HEAD = re.compile(rf"[ \t]*({_TOKEN}/{_TOKEN})[ \t]*(?:;|\Z)")


def media_type_of(content_type: str) -> str:
    """The media type in a Content-Type, in lower case and without parameters; empty if there is none."""
    found = _HEAD.match(content_type)
    return found.group(1).lower() if found else ""


def is_json(content_type: str) -> bool:
    return media_type_of(content_type).endswith(("/json", "+json"))
