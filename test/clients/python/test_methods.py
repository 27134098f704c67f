"""Each method of both routers against a live system."""

import base64
import io
import json
import os
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from model_router import AnyModel, Router, RouterError
from support import API_KEY, BASE_URL, MODEL, RouterTest, WaitingRouter

IMAGE = base64.b64decode(os.environ["IMAGE"])


class Methods:
    def setUp(self):
        self.router = self.router_at(BASE_URL, key=API_KEY)

    def test_run(self):
        result = self.router.run(MODEL, {"prompt": "a red fox"}, extra={"steps_of_tomorrow": 1})
        self.assertEqual(result.output["status"], "Ready")
        self.assertGreater(result.cost_cents, 0)
        self.assertEqual({len(result.request_id), len(result.call_id)}, {36})
        self.assertNotEqual(result.request_id, result.call_id)
        self.assertEqual(result.run_id, result.request_id)
        self.assertEqual(json.loads(result.bytes), result.output)
        [kept] = self.router.requests(request_id=result.call_id)
        self.assertEqual(kept["request_id"], result.request_id)

    def test_run_returns_bytes_and_sends_a_string_unchanged(self):
        result = self.router.run(AnyModel("openai/tts-1"), '{ "voice":"ash",  "input":"hello" ,"speed": 1.00}')
        self.assertEqual(result.content_type, "audio/mpeg")
        self.assertEqual(result.output, result.bytes)

    def test_stream(self):
        events = list(self.router.stream(AnyModel("openai/gpt-5-mini"), {"input": "hello"}))
        self.assertIn("response.completed", [event.event for event in events])
        contents = [{"role": "user", "parts": [{"text": "hello"}]}]
        events = list(self.router.stream(AnyModel("vertexai/gemini-2.5-flash"), {"contents": contents}))
        self.assertGreater(len(events), 1)
        self.assertIn("candidates", events[0].data)

    def test_requests_and_usage_by_tag_and_user(self):
        tags, user = {"project": f"p{id(self)}"}, f"user-{id(self)}"
        result = self.router.subscribe(MODEL, {"prompt": "soon"}, tags=tags, user=user)
        list(self.router.stream(AnyModel("openai/gpt-5-mini"), {"input": "hello"}, user=user))
        [found] = self.router.requests(tag=f"project={tags['project']}", user=user)
        self.assertEqual((found["request_id"], found["tags"]), (result.request_id, tags))
        self.assertEqual(len(list(self.router.requests(user=user))), 2)
        groups = self.router.usage("tag:project")["data"]
        self.assertEqual([each["runs"] for each in groups if each.get("tags") == tags], [1])

    def test_run_and_subscribe_name_fields_that_look_like_typos(self):
        input = {"prompt": "soon", "hieght": 1024}
        for act in (self.router.run, self.router.subscribe):
            self.assertEqual(act(AnyModel(MODEL), input).unknown_fields, {"hieght": "height"})
        with self.assertRaises(RouterError) as raised:
            self.router.run(AnyModel(MODEL), {"hieght": 1024})
        self.assertEqual(raised.exception.unknown_fields, {"hieght": "height"})

    def test_submit(self):
        run = self.router.submit(MODEL, {"prompt": "soon"}, idempotency_key=f"once-{id(self)}-{os.getpid()}")
        self.assertEqual(run.request_id, run["request_id"])
        again = self.router.submit(MODEL, {"prompt": "soon"}, idempotency_key=f"once-{id(self)}-{os.getpid()}")
        self.assertEqual(again.request_id, run.request_id)

    def test_status(self):
        run = self.router.submit(MODEL, {"prompt": "soon"})
        state = self.router.status(run)
        self.assertEqual(state.request_id, run.request_id)
        self.assertIn(state.status, ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"])

    def test_subscribe_to_a_submitted_run(self):
        run = self.router.submit(MODEL, {"prompt": "[[sim:takes=1500]]"})
        states = [state.status for state in self.router.subscribe(run)]
        self.assertEqual(states[-1], "COMPLETED")
        self.assertEqual(states, sorted(set(states), key=["IN_QUEUE", "IN_PROGRESS", "COMPLETED"].index))
        self.assertEqual(self.router.status(run).status, "COMPLETED")

    def test_subscribe_to_a_model(self):
        seen = []
        result = self.router.subscribe(MODEL, {"prompt": "[[sim:takes=1500]]"}, on_status=self.noting(seen))
        self.assertEqual(result.output["status"], "Ready")
        self.assertEqual({state.request_id for state in seen}, {result.request_id})
        self.assertEqual([seen[0].status, seen[-1].status], ["IN_QUEUE", "COMPLETED"])

    def noting(self, seen):
        return seen.append

    def test_collect(self):
        run = self.router.submit(MODEL, {"prompt": "soon"})
        first, second = self.router.collect(run), self.router.collect(json.loads(json.dumps(run)))
        self.assertEqual(first.output["status"], "Ready")
        self.assertEqual(first.bytes, second.bytes)
        self.assertEqual(first.request_id, run.request_id)
        self.assertEqual(self.router.cancel(run)["status"], "ALREADY_COMPLETED")

    def test_cancel(self):
        run = self.router.submit("fal/flux-dev", {"prompt": "[[sim:takes=300000]]"})
        self.assertEqual(self.router.cancel(run)["status"], "CANCELLATION_REQUESTED")
        error = self.failure(lambda: self.router.collect(run))
        self.assertEqual((error.bucket, error.status), ("client_disconnected", 409))
        self.assertEqual(error.request_id, run.request_id)
        self.assertEqual(len(error.call_id), 36)

    def test_upload_takes_bytes_paths_and_open_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "photo.png"
            path.write_bytes(IMAGE)
            with path.open("rb") as opened:
                for file in (IMAGE, path, str(path), opened, io.BytesIO(IMAGE)):
                    self.assertTrue(self.router.upload(file).startswith("http"))
                opened.seek(0)
                for file in (IMAGE, path, opened):
                    result = self.router.run(MODEL, {"prompt": "with an image", "input_image": file})
                    self.assertEqual(result.output["status"], "Ready")
            with path.open("r", encoding="latin1") as text, self.assertRaisesRegex(TypeError, "mode 'rb'"):
                self.router.upload(text)

    def test_models(self):
        ids = [model["id"] for model in self.router.models()]
        self.assertGreater(len(ids), 100)
        self.assertEqual(len(ids), len(set(ids)))

    def test_cost(self):
        quote = self.router.cost(MODEL, {"prompt": "a red fox"})
        self.assertGreater(quote["expected_cents"], 0)
        self.assertGreaterEqual(quote["max_cents"], quote["reserved_cents"])

    def test_requests(self):
        run = self.router.submit(MODEL, {"prompt": "soon"})
        self.router.collect(run)
        hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
        found = list(self.router.requests(model=MODEL, outcome="succeeded", start=hour_ago))
        self.assertIn(run.request_id, [each["request_id"] for each in found])
        self.assertEqual({each["model"] for each in found}, {MODEL})
        self.assertEqual(list(self.router.requests(end=hour_ago)), [])
        with self.assertRaisesRegex(ValueError, "time zone"):
            list(self.router.requests(start=datetime.now()))

    def test_usage(self):
        self.router.run(MODEL, {"prompt": "soon"})
        usage = self.router.usage(["day", "model"], start=datetime.now(timezone.utc) - timedelta(hours=1))
        self.assertEqual(usage["group_by"], ["day", "model"])
        self.assertIn(MODEL, [group["model"] for group in usage["data"]])
        self.assertGreater(usage["total"]["cost_cents"], 0)

    def test_files(self):
        url = self.router.upload(IMAGE)
        files = [file for file in self.router.files() if file["url"].split("?")[0] == url.split("?")[0]]
        self.assertEqual([(file["content_type"], file["size"]) for file in files], [("image/png", len(IMAGE))])

    def test_webhook_secret(self):
        self.assertTrue(self.router.webhook_secret().startswith("whsec_"))


class MethodsOfRouter(Methods, RouterTest):
    make = Router

    def test_with_statement(self):
        with Router(BASE_URL, key=API_KEY) as router:
            self.assertTrue(router.webhook_secret())
        with self.assertRaisesRegex(RuntimeError, "closed"):
            router.webhook_secret()


class MethodsOfAsyncRouter(Methods, RouterTest):
    make = WaitingRouter

    def noting(self, seen):
        async def note(state):
            seen.append(state)

        return note

    def test_with_statement(self):
        async def once():
            async with self.router.router as router:
                self.assertTrue(await router.webhook_secret())
            with self.assertRaisesRegex(RuntimeError, "closed"):
                await router.webhook_secret()

        self.router._loop.run_until_complete(once())


class Failures:
    def setUp(self):
        self.router = self.router_at(BASE_URL, key=API_KEY)

    def test_have_a_bucket_and_fields(self):
        router = self.router
        error = self.failure(lambda: router.run(MODEL, {"prompt": 1}))
        self.assertEqual((error.bucket, error.status), ("invalid_input", 422))
        self.assertEqual(error.fields[0]["loc"], ["body", "prompt"])
        self.assertTrue(str(error).startswith("body.prompt: "))
        self.assertEqual(self.failure(lambda: router.run("bfl/flux-2-por", {})).bucket, "model_not_found")
        error = self.failure(lambda: router.run(MODEL, {"prompt": "[[sim:policy_output]]"}))
        self.assertEqual((error.bucket, len(error.request_id)), ("content_policy_violation", 36))
        stranger = self.router_at(BASE_URL, token="nobody")
        self.assertEqual(self.failure(lambda: stranger.run(MODEL, {})).bucket, "unauthorized")

    def test_of_timeouts_carry_the_key_that_collects_the_run(self):
        input = {"prompt": "[[sim:takes=3000]]"}
        error = self.failure(lambda: self.router.run(MODEL, input, timeout=1.5))
        self.assertEqual((error.bucket, error.status), ("deadline_exceeded", 0))
        again = self.router.run(MODEL, input, idempotency_key=error.idempotency_key)
        self.assertEqual(again.output["status"], "Ready")


class FailuresOfRouter(Failures, RouterTest):
    make = Router


class FailuresOfAsyncRouter(Failures, RouterTest):
    make = WaitingRouter


if __name__ == "__main__":
    unittest.main()
