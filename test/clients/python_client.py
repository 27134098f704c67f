"""Run by python.spec.ts against a running system, whose address and keys are in the environment."""

import base64
import hashlib
import hmac
import json
import os
import time
import unittest
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from model_router import Router, RouterError, WebhookVerificationError, verify_webhook

BASE_URL = os.environ["BASE_URL"]
MODEL = "bfl/flux-2-pro"
router = Router(BASE_URL, key=os.environ["API_KEY"])


class Runs(unittest.TestCase):
    def test_runs_a_model_and_says_what_it_cost(self):
        result = router.run(MODEL, {"prompt": "a red fox"})
        self.assertEqual(result.output["status"], "Ready")
        self.assertGreater(result.cost_cents, 0)

    def test_gives_bytes_and_sends_a_text_as_it_is(self):
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

    def test_polls_where_there_is_no_stream(self):
        polling = Router(BASE_URL, key=os.environ["API_KEY"])
        polling._streamed = lambda *_: iter(())
        run = polling.submit(MODEL, {"prompt": "[[sim:takes=1500]]"})
        self.assertEqual([state["status"] for state in polling.subscribe(run)][-1], "COMPLETED")

    def test_collects_a_run_that_has_not_ended(self):
        run = router.submit(MODEL, {"prompt": "soon"})
        self.assertEqual(router.collect(run).output["status"], "Ready")

    def test_cancels(self):
        run = router.submit("fal/flux-dev", {"prompt": "[[sim:takes=300000]]"})
        self.assertEqual(router.cancel(run)["status"], "CANCELLATION_REQUESTED")
        with self.assertRaises(RouterError) as failed:
            router.collect(run)
        self.assertEqual((failed.exception.bucket, failed.exception.status), ("client_disconnected", 409))

    def test_uploads_the_files_of_an_input(self):
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

    def test_have_a_bucket_and_the_fields(self):
        error = self.failure(lambda: router.run(MODEL, {"prompt": 1}))
        self.assertEqual((error.bucket, error.status), ("invalid_input", 422))
        self.assertEqual(error.fields[0]["loc"], ["body", "prompt"])
        self.assertTrue(str(error).startswith("body.prompt: "))
        self.assertEqual(self.failure(lambda: router.run("bfl/flux-2-por", {})).bucket, "model_not_found")
        stranger = Router(BASE_URL, token="nobody")
        self.assertEqual(self.failure(lambda: router.run(MODEL, {"prompt": "[[sim:policy_output]]"})).bucket, "content_policy_violation")
        self.assertEqual(self.failure(lambda: stranger.run(MODEL, {})).bucket, "unauthorized")

    def test_of_time_carry_the_key_that_collects_the_run(self):
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


unittest.main()
