# SPDX-License-Identifier: MIT
"""kubernetes.py - stands for the API of a cluster in which a manifest was applied: answers who asks for the pods of its
namespace, with one of its DaemonSet, and forbids all else, as it would a service account that may list and watch these.

kubernetes.py PORT MANIFEST ADDRESS RECORD: the pod has that address. The path of each request is appended to RECORD.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

port, manifest, address, record = sys.argv[1:]
with open(manifest, encoding="utf-8") as stream:
    daemons = next(item for item in yaml.safe_load_all(stream) if item["kind"] == "DaemonSet")
namespace, template = daemons["metadata"]["namespace"], daemons["spec"]["template"]
pod = {
    "metadata": {"name": "headroom-abcde", "namespace": namespace, "uid": "1", **template["metadata"]},
    "spec": {**template["spec"], "nodeName": "node-7"},
    "status": {"phase": "Running", "podIP": address, "hostIP": "192.0.2.7"},
}
file = open(record, "ab", buffering=0)


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        file.write(self.path.encode() + b"\n")
        path, _, query = self.path.partition("?")
        if path != f"/api/v1/namespaces/{namespace}/pods":
            self.send_error(403)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if "watch=" in query:
            self.rfile.read(1)      # nothing changes for as long as it watches
            return
        pods = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [pod]}
        self.wfile.write(json.dumps(pods).encode())


ThreadingHTTPServer(("127.0.0.1", int(port)), Api).serve_forever()
