"""Tests that python.spec.ts runs against a live system. The environment has its address and keys."""

import base64
import hashlib
import hmac
import json
import os
import time
import unittest
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from unittest import mock

import model_router
from model_router import Router, RouterError, WebhookVerificationError, verify_webhook

BASE_URL = os.environ["BASE_URL"]
MODEL = "bfl/flux-2-pro"
router = Router(BASE_URL, key=os.environ["API_KEY"])


class Runs(unittest.TestCase):
    def test_runs_a_model_and_says_what_it_cost(self):
        result = router.run(MODEL, {"prompt": "a red fox"})
        self.assertEqual(result.output["status"], "Ready")
        self.assertGreater(result.cost_cents, 0)
        self.assertEqual({len(result.run_id), len(result.call_id)}, {36})
        self.assertNotEqual(result.run_id, result.call_id)

    def test_returns_bytes_and_sends_a_string_unchanged(self):
        result = router.run("openai/tts-1", '{ "voice":"ash",  "input":"hello" ,"speed": 1.00}')
        self.assertEqual(result.content_type, "audio/mpeg")
        self.assertEqual(result.output, result.bytes)

    def test_submits_follows_and_collects(self):
        run = router.submit(MODEL, {"prompt": "[[sim:takes=1500]]"})
        states = [state["status"] for state in router.subscribe(run)]
        self.assertEqual(states[-1], "COMPLETED")
        self.assertEqual(states, sorted(set(states), key=["IN_QUEUE", "IN_PROGRESS", "COMPLETED"].index))
        self.assertEqual(router.status(run)["status"], "COMPLETED")
        first, second = router.collect(run), router.collect(json.loads(json.dumps(run)))
        self.assertEqual(first.bytes, second.bytes)
        self.assertEqual(router.cancel(run)["status"], "ALREADY_COMPLETED")

    def test_polls_if_the_stream_is_not_available(self):
        polling = Router(BASE_URL, key=os.environ["API_KEY"])
        polling._streamed = lambda *_: iter(())
        run = polling.submit(MODEL, {"prompt": "[[sim:takes=1500]]"})
        self.assertEqual([state["status"] for state in polling.subscribe(run)][-1], "COMPLETED")

    def test_waits_for_a_run_that_has_not_completed(self):
        run = router.submit(MODEL, {"prompt": "soon"})
        self.assertEqual(router.collect(run).output["status"], "Ready")

    def test_cancels(self):
        run = router.submit("fal/flux-dev", {"prompt": "[[sim:takes=300000]]"})
        self.assertEqual(router.cancel(run)["status"], "CANCELLATION_REQUESTED")
        with self.assertRaises(RouterError) as failed:
            router.collect(run)
        self.assertEqual((failed.exception.bucket, failed.exception.status), ("client_disconnected", 409))
        self.assertEqual(failed.exception.run_id, run["request_id"])
        self.assertEqual(len(failed.exception.call_id), 36)

    def test_uploads_the_files_in_an_input(self):
        image = base64.b64decode(os.environ["IMAGE"])
        self.assertTrue(router.upload(image).startswith("http"))
        result = router.run(MODEL, {"prompt": "with an image", "input_image": image})
        self.assertEqual(result.output["status"], "Ready")

    def test_lists_the_models(self):
        ids = [model["id"] for model in router.models()]
        self.assertGreater(len(ids), 100)
        self.assertEqual(len(ids), len(set(ids)))


class Failures(unittest.TestCase):
    def failure(self, act):
        with self.assertRaises(RouterError) as failed:
            act()
        return failed.exception

    def test_have_a_bucket_and_fields(self):
        error = self.failure(lambda: router.run(MODEL, {"prompt": 1}))
        self.assertEqual((error.bucket, error.status), ("invalid_input", 422))
        self.assertEqual(error.fields[0]["loc"], ["body", "prompt"])
        self.assertTrue(str(error).startswith("body.prompt: "))
        self.assertEqual(self.failure(lambda: router.run("bfl/flux-2-por", {})).bucket, "model_not_found")
        stranger = Router(BASE_URL, token="nobody")
        self.assertEqual(self.failure(lambda: router.run(MODEL, {"prompt": "[[sim:policy_output]]"})).bucket, "content_policy_violation")
        self.assertEqual(self.failure(lambda: stranger.run(MODEL, {})).bucket, "unauthorized")

    def test_of_timeouts_carry_the_key_that_collects_the_run(self):
        input = {"prompt": "[[sim:takes=3000]]"}
        error = self.failure(lambda: router.run(MODEL, input, timeout=1.5))
        self.assertEqual((error.bucket, error.status), ("deadline_exceeded", 0))
        again = router.run(MODEL, input, idempotency_key=error.idempotency_key)
        self.assertEqual(again.output["status"], "Ready")

    def test_of_the_network(self):
        nowhere = Router("http://127.0.0.1:1", key="x")
        self.assertEqual(self.failure(lambda: nowhere.run(MODEL, {}, timeout=1)).status, 0)


class Proxies(unittest.TestCase):
    def failure(self, body, retry_after):
        class Proxy(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(502)
                self.send_header("Retry-After", retry_after)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with HTTPServer(("127.0.0.1", 0), Proxy) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            try:
                with self.assertRaises(RouterError) as failed:
                    Router(f"http://127.0.0.1:{server.server_port}", key="x").run(MODEL, {}, timeout=10)
                return failed.exception
            finally:
                server.shutdown()

    def test_may_answer_with_anything(self):
        in_a_minute = formatdate(time.time() + 60, usegmt=True)
        error = self.failure(b'["gone"]', in_a_minute)
        self.assertEqual((error.bucket, error.status), ("internal_error", 502))
        self.assertAlmostEqual(error.retry_after, 60, delta=5)
        error = self.failure(b'{"detail": [{"reason": 1}]}', "soon")
        self.assertEqual((error.fields, error.retry_after), ([], None))


class Stubs(unittest.TestCase):
    """Responses that a live system can't be made to give."""

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
                    self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in body:
                    self.wfile.write(part)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.router = Router(self.url, key="x")

    def failure(self, act):
        with self.assertRaises(RouterError) as failed:
            act()
        return failed.exception

    def test_the_rejection_of_a_large_upload_is_read(self):
        self.script = [(413, {"X-Service-Error-Type": "invalid_input"}, [b'{"detail": "Too large."}'])]
        error = self.failure(lambda: self.router.upload(bytes(50_000_000)))
        self.assertEqual((error.bucket, error.status, len(self.seen)), ("invalid_input", 413, 1))

    def test_a_slow_body_ends_at_the_time_limit(self):
        def slowly():
            for _ in range(30):
                time.sleep(0.2)
                yield b" "

        self.script = [(200, {"Content-Type": "application/json"}, slowly())]
        started = time.monotonic()
        error = self.failure(lambda: self.router.run(MODEL, {}, timeout=1))
        self.assertEqual((error.bucket, error.status), ("deadline_exceeded", 0))
        self.assertLess(time.monotonic() - started, 3)

    def test_a_response_that_is_not_json(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b"<html>"])]
        for act in (self.router.run, self.router.submit):
            error = self.failure(lambda: act(MODEL, {}, idempotency_key="k"))
            self.assertEqual((error.bucket, error.status, error.idempotency_key), ("internal_error", 200, "k"))

    def test_a_truncated_body_is_retried(self):
        half = (200, {"Content-Type": "application/json", "Content-Length": "20"}, [b'{"a":'])
        self.script = [half, (200, {"Content-Type": "application/json"}, [b"{}"])]
        self.assertEqual(self.router.run(MODEL, {}).output, {})

    def test_configuration_errors_are_raised_at_once(self):
        with self.assertRaises(ValueError):
            Router("localhost:8080", key="x")
        self.script = [(308, {"Location": "https://new.example.com/"}, [])]
        with self.assertRaises(ValueError):
            self.router.run(MODEL, {}, idempotency_key="order\u2014\u0031")
        error = self.failure(lambda: self.router.run("acme/a b \u00fc?", {}))
        self.assertEqual(error.status, 308)
        self.assertIn("https://new.example.com/", str(error))
        self.assertEqual([each.path for each in self.seen], ["/v2/models/acme/a%20b%20%C3%BC%3F"])

    def test_only_consecutive_attempts_without_an_answer_count(self):
        goes_on = (504, {"X-Service-Error-Type": "deadline_exceeded", "Retry-After": "0"}, [b"{}"])
        lost = (0, {}, [])
        done = (200, {"Content-Type": "application/json"}, [b"{}"])
        self.script = [goes_on, goes_on, lost, goes_on, goes_on, lost, done]
        self.assertEqual(self.router.run(MODEL, {}).output, {})
        self.assertEqual(len(self.seen), 7)

    def test_a_wait_is_never_shorter_than_the_backoff_or_longer_than_the_call(self):
        for retry_after in ("2147484", "9" * 400, "-5", "0", "\u00b2"):
            self.seen.clear()
            headers = {"X-Service-Error-Type": "deadline_exceeded", "Retry-After": retry_after}
            self.script = [(504, headers, [b"{}"])]
            error = self.failure(lambda: self.router.run(MODEL, {}, timeout=0.3))
            self.assertEqual((error.bucket, error.status), ("deadline_exceeded", 0))
            self.assertLess(len(self.seen), 2)

    def test_an_output_is_parsed_by_its_media_type(self):
        for content_type, output in (
            ("Application/JSON", {}),
            ("application/json ;charset=utf-8", {}),
            ('application/problem+JSON; a="b,c"', {}),
            ("application/json-seq", b"{}"),
            ("text/plain; a=application/json", b"{}"),
            ("xjson", b"{}"),
        ):
            self.script = [(200, {"Content-Type": content_type}, [b"{}"])]
            self.assertEqual(self.router.run(MODEL, {}).output, output, content_type)

    def test_an_error_that_is_the_outcome_of_the_run_is_not_retried(self):
        unavailable = {"X-Service-Error-Type": "service_unavailable"}
        state = b'{"status": "COMPLETED", "error_type": "service_unavailable"}'
        self.script = [(503, unavailable, [b"{}"]), (200, {}, [state]), (500, {}, [b"{}"])]
        error = self.failure(lambda: self.router.collect({"response_url": "/r", "status_url": "/s"}))
        self.assertEqual((error.bucket, error.status), ("service_unavailable", 503))

    def test_the_proxy_from_the_environment_is_used(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b"{}"])]
        with mock.patch.dict(os.environ, {"http_proxy": self.url.replace("//", "//me:you@")}):
            Router("http://router.example.com", key="x").run(MODEL, {})
        self.assertEqual(self.seen[0].path, f"http://router.example.com/v2/models/{MODEL}")
        self.assertEqual(self.seen[0].headers["Proxy-Authorization"], "Basic bWU6eW91")

    def test_the_package_has_types(self):
        self.assertTrue((Path(model_router.__file__).parent / "py.typed").exists())


class Webhooks(unittest.TestCase):
    secret = "whsec_" + base64.b64encode(b"a secret of tests").decode()
    body = b'{"type": "run.completed", "data": {"request_id": "r"}}'

    def signed(self, at):
        code = hmac.new(b"a secret of tests", f"m.{at}.".encode() + self.body, hashlib.sha256).digest()
        return {
            "Webhook-Id": "m",
            "Webhook-Timestamp": str(at),
            "Webhook-Signature": f"v1,AAAA v1,{base64.b64encode(code).decode()}",
        }

    def test_are_verified(self):
        headers = self.signed(int(time.time()))
        self.assertEqual(verify_webhook(self.body, headers, self.secret)["type"], "run.completed")
        self.assertEqual(verify_webhook(self.body, headers, ["whsec_AAAA", self.secret])["type"], "run.completed")
        for body, sent, secret in [
            (self.body + b" ", headers, self.secret),
            (self.body, headers, "whsec_AAAA"),
            (self.body, self.signed(int(time.time()) - 600), self.secret),
            (self.body, {}, self.secret),
        ]:
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(body, sent, secret)

    def test_are_never_verified_with_an_invalid_secret(self):
        headers = self.signed(int(time.time()))
        for bad in ("", "whsec_", "whsec_-_-_", "change me!"):
            with self.assertRaisesRegex(ValueError, "Secret 2"):
                verify_webhook(self.body, headers, [self.secret, bad])


unittest.main()
