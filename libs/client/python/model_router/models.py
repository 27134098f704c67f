"""The input and output types of each model, such as `BflFlux2ProInput` for bfl/flux-2-pro.

Type checkers read them from the stub of this module. Here they are plain dicts, which keeps the import cheap.
"""

from typing import Any, Dict


def __getattr__(name: str) -> Any:
    if name.endswith(("Input", "Output")):
        return Dict[str, Any]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
