"""Calls the webhook route of a snippet in its own framework: frameworks.py <framework>, with the snippet in SNIPPET."""

import base64
import hashlib
import hmac
import os
import sys
import time
import types

KEY = b"a secret of tests"
BODY = b'{"type": "run.completed", "data": {"request_id": "r1"}}'
os.environ["WEBHOOK_SECRET"] = "whsec_" + base64.b64encode(KEY).decode()


def headers(key):
    at = str(int(time.time()))
    code = hmac.new(key, f"m.{at}.".encode() + BODY, hashlib.sha256).digest()
    return {
        "webhook-id": "m",
        "webhook-timestamp": at,
        "webhook-signature": "v1," + base64.b64encode(code).decode(),
        "content-type": "application/json",
    }


def fastapi(names):
    from fastapi.testclient import TestClient

    client = TestClient(names["app"])
    return lambda sent: client.post("/hook", content=BODY, headers=sent).status_code


def flask(names):
    client = names["app"].test_client()
    return lambda sent: client.post("/hook", data=BODY, headers=sent).status_code


def django(names):
    from django.test import Client
    from django.urls import path

    routes = types.ModuleType("routes")
    routes.urlpatterns = [path("hook", names["hook"])]
    sys.modules["routes"] = routes
    # Enforces the check that the snippet switches off for its view.
    client = Client(enforce_csrf_checks=True)

    def status(sent):
        meta = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in sent.items()}
        return client.post("/hook", data=BODY, content_type="application/json", **meta).status_code

    return status


def main(framework):
    if framework == "django":
        from django.conf import settings

        middleware = ["django.middleware.csrf.CsrfViewMiddleware"]
        settings.configure(ROOT_URLCONF="routes", ALLOWED_HOSTS=["*"], MIDDLEWARE=middleware, SECRET_KEY="x")
        import django as package

        package.setup()
    names = {"__name__": "snippet"}
    exec(compile(os.environ["SNIPPET"], "snippet", "exec"), names)
    status = {"fastapi": fastapi, "flask": flask, "django": django}[framework](names)
    print(status(headers(KEY)), status(headers(b"another key")), status({}))


main(sys.argv[1])
