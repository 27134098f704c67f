"""Streams of events, from a server that sends what a provider sends."""

import asyncio
import json
import time
import unittest
from contextlib import suppress
from pathlib import Path
from unittest import mock

from model_router import Event, Router, _events
from support import ServerTest, WaitingRouter

MODEL = "openai/gpt-4o"
STREAM = {"Content-Type": "text/event-stream; charset=utf-8", "X-Service-Run-Id": "r", "X-Service-Request-Id": "c"}


VECTORS = json.loads((Path(__file__).parents[2] / "protocols" / "server-sent-events.json").read_text("utf-8"))


class Parser(unittest.TestCase):
    def test_events_are_the_same_in_pieces_of_any_length(self):
        for vector in VECTORS:
            whole = vector["text"].encode()
            expected = [Event(each.get("event", "message"), each["data"], each.get("id")) for each in vector["events"]]
            for length in range(1, len(whole) + 2):
                with self.subTest(vector["name"], length=length):
                    parser = _events.EventParser()
                    pieces = [whole[at : at + length] for at in range(0, len(whole), length)]
                    self.assertEqual([event for piece in pieces for event in parser.feed(piece)], expected)

    def test_a_long_line_is_searched_once(self):
        counted = CountedSearches(_events._LINE_END)
        parser = _events.EventParser()
        with mock.patch.object(_events, "_LINE_END", counted):
            for _ in range(256):
                self.assertEqual(list(parser.feed(b"data: x" * 512)), [])
        self.assertEqual(counted.searched, 256 * 7 * 512)


class CountedSearches:
    def __init__(self, pattern):
        self.pattern, self.searched = pattern, 0

    def split(self, text):
        self.searched += len(text)
        return self.pattern.split(text)


class Streams:
    def test_events_come_as_they_are_sent(self):
        received = []

        def parts():
            yield b"\xef\xbb\xbf: a comment\n\nevent: start\nid: 1\ndata: {\"text\": \"gr\xc3"
            yield b"\xbc\xc3\x9f\"}\r\n\r"
            yield b"\ndata: first\ndata:second\n\n"
            for _ in range(100):
                if len(received) == 2:
                    break
                time.sleep(0.05)
            else:
                return
            yield b"retry: 5\nid\rdata\r\rdata: [DONE]\n\ndata: unfinished"

        self.script = [(200, STREAM, parts())]
        for event in self.router.stream(MODEL, {"messages": []}):
            received.append(event)
        self.assertEqual(
            received,
            [
                Event("start", '{"text": "grüß"}', "1"),
                Event("message", "first\nsecond", "1"),
                Event("message", "", ""),
                Event("message", "[DONE]", ""),
            ],
        )
        [request] = self.seen
        self.assertEqual(request.path, "/v2/models/openai/gpt-4o")
        self.assertEqual(json.loads(request.content), {"messages": [], "stream": True})
        self.assertEqual(len(request.headers["Idempotency-Key"]), 36)

    def test_geminis_is_requested_by_the_query(self):
        self.script = [(200, STREAM, [b"data: 1\n\n"])]
        self.assertEqual(len(list(self.router.stream("vertexai/gemini-2.5-flash", {"contents": []}))), 1)
        [request] = self.seen
        self.assertEqual(request.path, "/v2/models/vertexai/gemini-2.5-flash?alt=sse")
        self.assertEqual(json.loads(request.content), {"contents": []})

    def test_the_last_event_may_end_with_a_carriage_return(self):
        self.script = [(200, STREAM, [b"data: last\r\r"])]
        self.assertEqual([event.data for event in self.router.stream(MODEL, {})], ["last"])

    def test_a_rejection_is_an_error(self):
        headers = {"X-Service-Error-Type": "invalid_input", "Content-Type": "application/json"}
        self.script = [(422, headers, [b'{"detail": [{"loc": ["body", "stream"], "msg": "no"}]}'])]
        error = self.failure(lambda: list(self.router.stream(MODEL, {})))
        self.assertEqual((error.bucket, error.status, str(error)), ("invalid_input", 422, "body.stream: no"))

    def test_a_busy_router_is_asked_again_with_the_same_key(self):
        busy = (503, {"X-Service-Error-Type": "service_unavailable"}, [b"{}"])
        self.script = [busy, (200, STREAM, [b"data: 1\n\n"])]
        self.assertEqual([event.data for event in self.router.stream(MODEL, {})], ["1"])
        self.assertEqual(len({request.headers["Idempotency-Key"] for request in self.seen}), 1)
        self.assertEqual(len(self.seen), 2)

    def test_a_stream_that_breaks_off_is_an_error_with_the_id_of_the_run(self):
        self.script = [(200, {**STREAM, "Content-Length": "100"}, [b"data: 1\n\n"])]
        events = self.router.stream(MODEL, {}, idempotency_key="k")
        self.assertEqual(next(events).data, "1")
        error = self.failure(lambda: next(events))
        self.assertEqual((error.bucket, error.status, error.request_id), ("service_unavailable", 200, "r"))
        self.assertEqual((error.call_id, error.idempotency_key, len(self.seen)), ("c", "k", 1))

    def test_a_run_that_fails_after_its_first_event_is_its_error(self):
        theirs = b'event: error\ndata: {"type": "error", "error": {"type": "api_error"}}\n\n'
        failed = b'\n\nevent: error\ndata: {"detail": "It failed.", "error_type": "provider_error"}\n\n'
        self.script = [(200, STREAM, [b"data: 1\n\n", theirs, failed])]
        events = self.router.stream(MODEL, {}, idempotency_key="k")
        self.assertEqual([next(events).event, next(events).event], ["message", "error"])
        error = self.failure(lambda: next(events))
        self.assertEqual((error.bucket, str(error), error.request_id), ("provider_error", "It failed.", "r"))
        self.assertEqual((error.idempotency_key, len(self.seen)), ("k", 1))

    def test_an_output_that_is_not_streamed_is_an_error_that_says_how_to_collect_it(self):
        self.script = [(200, {"Content-Type": "application/json"}, [b"{}"])]
        error = self.failure(lambda: list(self.router.stream(MODEL, {}, idempotency_key="k")))
        self.assertEqual((error.bucket, error.idempotency_key), ("invalid_input", "k"))

    def left(self, leave, **options):
        """What the server is asked after the caller has read one event of an endless stream and left."""

        def endlessly():
            for nth in range(100):
                yield b"data: %d\n\n" % nth
                time.sleep(0.1)

        self.script = [(200, STREAM, endlessly()), (202, {"Content-Type": "application/json"}, [b"{}"])]
        events = self.router.stream(MODEL, {}, **options)
        self.assertEqual(next(events).data, "0")
        leave(events)
        return [(request.command, request.path) for request in self.seen[1:]]

    def test_leaving_a_stream_cancels_its_run(self):
        cancellation = [("PUT", f"/v2/models/{MODEL}/requests/r/cancel")]
        for leave in (lambda events: events.close(), lambda events: self.router.close()):
            self.seen.clear()
            self.assertEqual(self.left(leave), cancellation)
            self.router = self.router_at(self.url, key="x")

    def test_leaving_a_loop_cancels_the_run(self):
        def loop():
            for _ in self.router.stream(MODEL, {}):
                return

        self.script = [(200, STREAM, [b"data: 1\n\n", b"data: 2\n\n"]), (202, {}, [b"{}"])]
        loop()
        self.assertEqual([request.command for request in self.seen], ["POST", "PUT"])

    def test_leaving_a_stream_with_a_key_of_its_own_lets_the_run_go_on(self):
        self.assertEqual(self.left(lambda events: events.close(), idempotency_key="k"), [])

    def test_a_stream_that_ended_is_not_cancelled(self):
        self.script = [(200, STREAM, [b"data: 1\n\n"])]
        self.assertEqual(len(list(self.router.stream(MODEL, {}))), 1)
        self.assertEqual(len(self.seen), 1)

    def test_the_time_limit_ends_a_stream(self):
        def slowly():
            for _ in range(30):
                yield b"data: 1\n\n"
                time.sleep(0.2)

        self.script = [(200, STREAM, slowly())]
        error = self.failure(lambda: list(self.router.stream(MODEL, {}, timeout=1)))
        self.assertEqual((error.bucket, error.status), ("deadline_exceeded", 0))


class StreamsOfRouter(Streams, ServerTest):
    make = Router


class StreamsOfAsyncRouter(Streams, ServerTest):
    make = WaitingRouter

    def test_a_cancelled_task_cancels_the_run_of_its_stream(self):
        def endlessly():
            yield b"data: 0\n\n"
            time.sleep(5)

        self.script = [(200, STREAM, endlessly()), (202, {}, [b"{}"])]

        async def cancelled():
            async def read():
                async for _ in self.router.router.stream(MODEL, {}):
                    begun.set()

            begun = asyncio.Event()
            task = asyncio.get_running_loop().create_task(read())
            await begun.wait()
            await asyncio.sleep(0.1)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        self.router._loop.run_until_complete(cancelled())
        self.assertEqual([request.command for request in self.seen], ["POST", "PUT"])


if __name__ == "__main__":
    unittest.main()
