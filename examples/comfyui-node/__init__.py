"""A node of ComfyUI that calls a model router: an image from a text, with any model of the catalog."""

import base64
import io
import json
import os
import re
import urllib.request

from .model_router import Router

# How PNG, JPEG, WebP and GIF begin in base64: other long texts of an output, such as signatures, are no images.
BASE64_IMAGE = re.compile(r"(data:image/[^,]+,)?(iVBORw0KGgo|/9j/|UklGR|R0lGOD)[A-Za-z0-9+/\s]{200,}=*$")


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
        result = router.run(model, {**json.loads(more), "prompt": prompt})
        data, url = image_of(result)
        try:
            return (tensor(data), url)
        except Exception as error:
            message = f"{model} answered, and was paid, but with no image that can be read: {result.content_type} {url}"
            raise ValueError(message) from error


def image_of(result):
    """The first image of a result, and its URL where it has one: each model puts it where its provider does."""
    if isinstance(result.output, bytes):
        return result.output, ""
    texts = list(texts_in(result.output))
    url = next((text for _, text in texts if text.startswith(("https://", "http://"))), None)
    if url is not None:
        with urllib.request.urlopen(url, timeout=60) as response:
            return response.read(), url
    inline = next((text for name, text in texts if name == "b64_json" or BASE64_IMAGE.match(text)), "")
    return base64.b64decode(inline.rpartition(",")[2]), ""


def texts_in(value, name=None):
    """Every text of an output, with the name of its member."""
    if isinstance(value, str):
        yield name, value
    members = value.items() if isinstance(value, dict) else [(name, each) for each in value] if isinstance(value, list) else ()
    for key, member in members:
        yield from texts_in(member, key)


def tensor(data):
    """ComfyUI's images: batch, height, width, three channels between 0 and 1."""
    import numpy
    import torch
    from PIL import Image

    pixels = numpy.array(Image.open(io.BytesIO(data)).convert("RGB")).astype(numpy.float32) / 255.0
    return torch.from_numpy(pixels)[None,]


NODE_CLASS_MAPPINGS = {"RouterImage": RouterImage}
NODE_DISPLAY_NAME_MAPPINGS = {"RouterImage": "Image by a model router"}
