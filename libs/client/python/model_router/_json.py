from __future__ import annotations

from typing import Any, Dict, Sequence, TypeGuard


def is_object(value: object) -> TypeGuard[Dict[str, Any]]:
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple))
