#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Takes what Alertmanager notifies.

    webhook.py PORT RECORD

The body of each POST to 127.0.0.1:PORT is appended to the file RECORD, a line each. A path that begins with /refuse
is answered by 400.
"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, record = sys.argv[1:]
file = open(record, "ab", buffering=0)


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/refuse"):
            self.send_error(400)
            return
        file.write(body.replace(b"\n", b" ") + b"\n")
        self.send_response(200)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(port)), Webhook).serve_forever()
