"""The verification of webhooks."""

import base64
import hashlib
import hmac
import json
import time
import unittest

from model_router import WebhookVerificationError, verify_webhook


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
            # Half a character, which no encoding has.
            (self.body, {**headers, "Webhook-Signature": "v1,\ud800"}, self.secret),
            (self.body, {**headers, "Webhook-Id": "\udfff"}, self.secret),
            ("\ud800", headers, self.secret),
        ]:
            with self.assertRaises(WebhookVerificationError):
                verify_webhook(body, sent, secret)

    def test_are_never_verified_with_an_invalid_secret(self):
        headers = self.signed(int(time.time()))
        for bad in ("", "whsec_", "whsec_-_-_", "change me!"):
            with self.assertRaisesRegex(ValueError, "Secret 2"):
                verify_webhook(self.body, headers, [self.secret, bad])


if __name__ == "__main__":
    unittest.main()
