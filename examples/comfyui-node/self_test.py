"""Loads the node as ComfyUI does, and tries the router: self_test.py <folder of the node> [--run [model …]]"""

import importlib.util
import os
import sys
from pathlib import Path


def load(folder):
    """ComfyUI loads each folder of custom_nodes as a package of its own; nothing else is on the path."""
    spec = importlib.util.spec_from_file_location("custom_node", folder / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["custom_node"] = module
    spec.loader.exec_module(module)
    return module


def main(folder, options):
    node = load(Path(folder))
    for name, kind in node.NODE_CLASS_MAPPINGS.items():
        assert callable(getattr(kind, kind.FUNCTION)) and kind.INPUT_TYPES()["required"] and kind.RETURN_TYPES
        print(f"loads: {name}, “{node.NODE_DISPLAY_NAME_MAPPINGS[name]}”")
    if not (os.environ.get("BASE_URL") and os.environ.get("API_KEY")):
        print("not tried: give BASE_URL and API_KEY to the test, and to ComfyUI")
        return
    router = node.Router(os.environ["BASE_URL"], key=os.environ["API_KEY"])
    run, *models = options or [None]
    models = models or [node.RouterImage.INPUT_TYPES()["required"]["model"][1]["default"]]
    ids = {each["id"] for each in router.models()}
    for model in models:
        assert model in ids, f"the key may not run {model}"
    print(f"reaches: {len(ids)} models")
    for model in models if run == "--run" else ():
        image, url = node.RouterImage().run(model, "a red fox in the snow")
        print(f"runs: {model} {tuple(image.shape)} {url}".rstrip())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
