"""Files over HTTP on 127.0.0.1, and every way in which they do not arrive."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer(ThreadingHTTPServer):
    """A folder of files; a context manager that serves in a thread.

    ``files`` maps paths to bodies, ``statuses`` to what is answered instead, ``redirects`` to other addresses. A path
    in ``cut`` gives half of its body, as if it were whole, and closes; one in ``stalls`` gives half and waits for
    ``go``. ``requests`` counts, ``headers`` keeps those of the last request, ``half`` is set when half a body is out.
    """

    daemon_threads = True

    def __init__(self, **files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {f"/{name.replace('__', '.').replace('_', '-')}": body for name, body in files.items()}
        self.statuses, self.redirects, self.cut, self.stalls = {}, {}, set(), set()
        self.requests, self.headers = Counter(), {}
        self.go, self.half = threading.Event(), threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.go.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that went away is part of the tests."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_):
        """Tests are quiet."""

    def do_GET(self):
        server = self.server
        server.requests[self.path] += 1
        server.headers = dict(self.headers)
        if self.path in server.redirects:
            return self.begin(302, b"", Location=server.redirects[self.path])
        status = server.statuses.get(self.path, 200 if self.path in server.files else 404)
        body = server.files[self.path] if status == 200 else b"no"
        self.begin(status, body)
        half = len(body) // 2
        self.wfile.write(body[:half])
        self.wfile.flush()
        server.half.set()
        if self.path in server.stalls:
            server.go.wait(30)
        if self.path not in server.cut:
            self.wfile.write(body[half:])
        return None

    def begin(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
