"""What the tests share: both routers with one interface, and a server that answers as a test says."""

import asyncio
import os
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from model_router import AsyncRouter, Router, RouterError

BASE_URL = os.environ.get("BASE_URL", "")
API_KEY = os.environ.get("API_KEY", "")
MODEL = "bfl/flux-2-pro"


class WaitingRouter:
    """An `AsyncRouter` whose methods wait for their results, so that one test covers both routers."""

    def __init__(self, *words, **options):
        self._loop = asyncio.new_event_loop()
        self.router = AsyncRouter(*words, **options)

    def close(self):
        if self._loop.is_closed():
            return
        self._loop.run_until_complete(self.router.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def __getattr__(self, name):
        method = getattr(self.router, name)

        def waiting(*words, **options):
            started = method(*words, **options)
            if hasattr(started, "__anext__"):
                return self._each(started)
            return self._loop.run_until_complete(started)

        return waiting

    def _each(self, values):
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(values.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            if not self._loop.is_closed():
                self._loop.run_until_complete(values.aclose())


class RouterTest(unittest.TestCase):
    """A test of both routers: its subclasses say of which."""

    make = Router

    def router_at(self, url, **options):
        router = self.make(url, **options)
        self.addCleanup(router.close)
        return router

    def failure(self, act):
        with self.assertRaises(RouterError) as failed:
            act()
        return failed.exception


class ServerTest(RouterTest):
    """A test against a server that answers with the parts of `script`, the last one again and again.

    A part is a status, headers and an iterable of bytes. A status of 0 closes the connection without an answer.
    """

    def setUp(self):
        self.seen = []
        self.script = []
        test = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                test.seen.append(self)
                status, headers, body = test.script.pop(0) if len(test.script) > 1 else test.script[0]
                if status == 0:
                    return
                if status != 413:
                    self.content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in body:
                    self.wfile.write(part)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        # The default of half a second would be the longest part of each test.
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.router = self.router_at(self.url, key="x")
