"""Retries, time limits and odd answers, with a server that answers as a live system cannot be made to."""

import json
import os
import sys
import time
import traceback
import unittest
from email.utils import formatdate
from pathlib import Path
from unittest import mock

import model_router
from model_router import Router
from support import MODEL, ServerTest, WaitingRouter


class Transport:
    def test_the_rejection_of_a_large_upload_is_read_or_explained(self):
        # The router answers and closes before it has read everything. Whether the answer can still be read depends on
        # the operating system and on the version of httpcore.
        self.script = [(413, {"X-Service-Error-Type": "invalid_input"}, [b'{"detail": "Too large."}'])]
        error = self.failure(lambda: self.router.upload(bytes(50_000_000), timeout=2))
        if error.status == 413:
            self.assertEqual((error.bucket, str(error), len(self.seen)), ("invalid_input", "Too large.", 1))
        else:
            self.assertIn("too large", str(error.__cause__))

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

        for act in (self.router.run, self.router.submit, self.router.cost):
            with self.assertRaisesRegex(ValueError, "'flux-2-pro' is not a model id"):
                act("flux-2-pro", {})
        for act in (self.router.status, self.router.cancel, self.router.collect):
            for run in ("r", {"request_id": "r"}):
                with self.assertRaisesRegex(TypeError, "URLs of the run"):
                    act(run)

    def test_tags_and_the_end_user_are_headers(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b"{}"])]
        for act in (self.router.run, self.router.submit):
            act(MODEL, {}, tags={"project": "alpha", "team": "a=b"}, user="user-7")
            act(MODEL, {}, tags={})
            with self.assertRaisesRegex(ValueError, "comma"):
                act(MODEL, {}, tags={"project": "a,b=c"})
        named = [(each.headers["X-Service-Tags"], each.headers["X-Service-User"]) for each in self.seen]
        self.assertEqual(named, 2 * [("project=alpha,team=a=b", "user-7"), (None, None)])

    def test_a_time_limit_says_what_failed_before(self):
        self.script = [(0, {}, [])]
        error = self.failure(lambda: self.router.run(MODEL, {}, timeout=0.2))
        message = "The call reached its time limit. Before: The router did not respond."
        self.assertEqual((error.bucket, str(error)), ("deadline_exceeded", message))

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

    def test_polls_if_the_stream_is_not_available(self):
        run = {"request_id": "r", "status_url": "/s", "response_url": "/r"}
        states = [{**run, "status": status} for status in ("IN_QUEUE", "IN_PROGRESS", "COMPLETED")]
        answers = [(200, {"Content-Type": "application/json"}, [json.dumps(state).encode()]) for state in states]
        self.script = [(404, {}, [b"{}"]), *answers]
        self.assertEqual(list(self.router.subscribe(run)), states)
        self.assertEqual([each.path for each in self.seen], ["/s/stream", "/s", "/s", "/s"])

    def test_tells_of_progress_and_of_each_state_once(self):
        run = {"request_id": "r", "status": "IN_QUEUE", "status_url": "/s", "response_url": "/r"}
        started = {**run, "status": "IN_PROGRESS"}
        done = {**run, "status": "COMPLETED"}
        events = [("", run), ("", started), ("progress", {"progress": 0.5}), ("", started), ("", done)]
        stream = "".join(
            (f"event: {event}\n" if event else "") + f"data: {json.dumps(data)}\n\n" for event, data in events
        )
        as_json = {"Content-Type": "application/json"}
        self.script = [
            (201, as_json, [json.dumps(run).encode()]),
            (200, {"Content-Type": "text/event-stream"}, [stream.encode()]),
            (200, as_json, [b"{}"]),
        ]
        statuses, progress = [], []
        self.router.subscribe(
            MODEL, {}, on_status=lambda state: statuses.append(state.status), on_progress=progress.append
        )
        self.assertEqual(statuses, ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"])
        self.assertEqual(progress, [0.5])

    def test_the_proxy_from_the_environment_is_used(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b"{}"])]
        with mock.patch.dict(os.environ, {"http_proxy": self.url.replace("//", "//me:you@")}):
            Router("http://router.example.com", key="x").run(MODEL, {})
        self.assertEqual(self.seen[0].path, f"http://router.example.com/v2/models/{MODEL}")
        self.assertEqual(self.seen[0].headers["Proxy-Authorization"], "Basic bWU6eW91")

    def test_a_traceback_names_the_error_as_callers_import_it_and_the_call(self):
        headers = {"X-Service-Error-Type": "unauthorized", "X-Service-Request-Id": "c"}
        self.script = [(401, headers, [b'{"detail": "No such key."}'])]
        error = self.failure(lambda: self.router.run(MODEL, {}))
        shown = traceback.format_exception_only(error)
        self.assertEqual(shown[0], "model_router.RouterError: No such key.\n")
        if sys.version_info >= (3, 11):
            self.assertEqual(shown[1], "bucket: unauthorized, status: 401, call_id: c\n")

    def test_a_printed_result_shows_its_output_once(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b'{"text": "fox"}'])]
        self.assertEqual(repr(self.router.run(MODEL, {})).count("fox"), 1)

    def test_the_package_has_types(self):
        self.assertTrue((Path(model_router.__file__).parent / "py.typed").exists())


class TransportOfRouter(Transport, ServerTest):
    make = Router


class TransportOfAsyncRouter(Transport, ServerTest):
    make = WaitingRouter


if __name__ == "__main__":
    unittest.main()
