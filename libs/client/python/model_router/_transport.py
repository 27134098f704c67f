from __future__ import annotations

import base64
import http.client
import socket
import time
import urllib.request
from typing import Dict, Iterator, Optional
from urllib.parse import SplitResult, unquote, urlsplit

_CHUNK_BYTES = 65_536


class Response:
    """A response whose headers have arrived. Reads stop at `ends_at`, however slowly the bytes arrive."""

    def __init__(
        self, connection: http.client.HTTPConnection, sock: socket.socket, response: http.client.HTTPResponse
    ) -> None:
        self.status = response.status
        self.headers = response.headers
        self._connection = connection
        self._sock = sock
        self._response = response

    def chunks(self, ends_at: float, max_silence_s: float = float("inf")) -> Iterator[bytes]:
        # Counted here because read1 does not update `length` in every version of Python.
        missing = self._response.length
        while missing != 0:
            self._sock.settimeout(min(_left(ends_at), max_silence_s))
            chunk = self._response.read1(_CHUNK_BYTES if missing is None else min(missing, _CHUNK_BYTES))
            if not chunk:
                break
            if missing is not None:
                missing -= len(chunk)
            yield chunk
        if missing:
            raise http.client.IncompleteRead(b"", missing)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def send(method: str, url: str, headers: Dict[str, str], body: Optional[bytes], ends_at: float) -> Response:
    """Never follows redirects, because the credential must reach only the router."""
    address = urlsplit(url)
    connection, target = _connection_for(address, headers, _left(ends_at))
    try:
        connection.connect()
        # Kept here because the connection drops its socket before the body has been read.
        sock = connection.sock
        sock.settimeout(_left(ends_at))
        try:
            connection.request(method, target, body, {**headers, "Connection": "close"})
        except (BrokenPipeError, ConnectionResetError):
            # A server that rejects a large body may respond and close before reading all of it.
            pass
        sock.settimeout(_left(ends_at))
        return Response(connection, sock, connection.getresponse())
    except BaseException:
        connection.close()
        raise


def _left(ends_at: float) -> float:
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise socket.timeout("timed out")
    return left_s


def _connection_for(
    address: SplitResult, headers: Dict[str, str], timeout_s: float
) -> "tuple[http.client.HTTPConnection, str]":
    """The connection, through the environment's proxy if there is one, and the request target to use on it."""
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    host = address.hostname or ""
    target = address._replace(scheme="", netloc="", fragment="").geturl() or "/"
    named = urllib.request.getproxies().get(address.scheme)
    if not named or urllib.request.proxy_bypass(address.netloc):
        return kind(host, address.port, timeout=timeout_s), target
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    credential = {}
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        credential["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    connection = kind(proxy.hostname or "", proxy.port, timeout=timeout_s)
    if address.scheme == "https":
        connection.set_tunnel(host, address.port, credential)
        return connection, target
    headers.update(credential)
    return connection, address._replace(fragment="").geturl()
