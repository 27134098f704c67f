"""A node of ComfyUI that calls a model router: an image from a text, with any model of the catalog."""

import io
import json
import os
import urllib.request

from .model_router import Router


class RouterImage:
    CATEGORY = "api node/image"
    FUNCTION = "run"
    RETURN_TYPES = ("IMAGE", "STRING")
    RETURN_NAMES = ("image", "url")

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "model": ("STRING", {"default": "bfl/flux-2-pro"}),
                "prompt": ("STRING", {"multiline": True}),
            },
            "optional": {"more": ("STRING", {"default": "{}", "multiline": True})},
        }

    def run(self, model, prompt, more="{}"):
        router = Router(os.environ["BASE_URL"], key=os.environ["API_KEY"])
        output = router.run(model, {**json.loads(more), "prompt": prompt}).output
        url = first_url(output)
        with urllib.request.urlopen(url, timeout=60) as response:
            return (tensor(response.read()), url)


def first_url(value):
    """The first URL of an output: each model puts it where its provider does."""
    if isinstance(value, str):
        return value if value.startswith(("https://", "http://")) else None
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((url for url in map(first_url, members) if url), None)


def tensor(data):
    """ComfyUI's images: batch, height, width, three channels between 0 and 1."""
    import numpy
    import torch
    from PIL import Image

    pixels = numpy.array(Image.open(io.BytesIO(data)).convert("RGB")).astype(numpy.float32) / 255.0
    return torch.from_numpy(pixels)[None,]


NODE_CLASS_MAPPINGS = {"RouterImage": RouterImage}
NODE_DISPLAY_NAME_MAPPINGS = {"RouterImage": "Image by a model router"}
