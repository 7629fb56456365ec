"""Stands for the simulator and the Service Bus emulator: it accepts, and answers every GET with 200."""

import argparse
import http.server
import sys
from pathlib import Path


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"ok"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
parser.add_argument("--data", type=Path)
options = parser.parse_args()
sys.stdout.write("a line that must not reach the stdout of the launcher\n")
http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Answer).serve_forever()
