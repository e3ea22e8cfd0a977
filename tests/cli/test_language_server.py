"""A YAML language server completes keys and marks mistakes by the schema: skipped where there is none.

GPUMC_YAML_SERVER: its program, `yaml-language-server` by default (npm install -g yaml-language-server).
"""
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import ProgramCase

SERVER = shutil.which(os.environ.get("GPUMC_YAML_SERVER", "yaml-language-server"))
CONFIG = """\
# yaml-language-server: $schema=gpumc.schema.json
gpumc: 1
seed: 1
model:
  name: ising2d
  shape: [8, 8]
algorithm:
  name: pa
  population: 100
  temperature: {to: 2, step: 0.5, from: 4}
output: x.h5
"""


class Client:
    """Messages of the language server protocol over standard input and output."""

    def __init__(self, folder):
        self.process = subprocess.Popen([SERVER, "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.incoming = queue.Queue()
        self.count = 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.ask("initialize", {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": {}})
        self.tell("initialized", {})
        settings = {"yaml": {"validate": True, "completion": True, "schemaStore": {"enable": False}}}
        self.settings = settings["yaml"]
        self.tell("workspace/didChangeConfiguration", {"settings": settings})

    def listen(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length == 0:
                return
            self.incoming.put(json.loads(stream.read(length)))

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def wait(self, wanted, seconds=60):
        """The first message that is wanted; what the server asks meanwhile gets an answer."""
        while True:
            message = self.incoming.get(timeout=seconds)
            if "id" in message and "method" in message:
                items = message.get("params", {}).get("items", []) if message["method"] == "workspace/configuration" else None
                answer = [self.settings if item.get("section") == "yaml" else None for item in items] if items is not None else None
                self.send({"id": message["id"], "result": answer})
            elif wanted(message):
                return message

    def ask(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        return self.wait(lambda message: message.get("id") == self.count and "method" not in message)["result"]

    def open(self, path, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": text}})
        found = self.wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                          and message["params"]["uri"] == path.as_uri())
        return found["params"]["diagnostics"]

    def complete(self, path, line, character):
        found = self.ask("textDocument/completion", {"textDocument": {"uri": path.as_uri()},
                                                     "position": {"line": line, "character": character}})
        return [item["label"] for item in (found["items"] if isinstance(found, dict) else found)]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


@unittest.skipUnless(SERVER, "no yaml-language-server")
class LanguageServer(ProgramCase):
    def setUp(self):
        super().setUp()
        self.path("gpumc.schema.json").write_text(self.gpumc("schema").out)
        self.client = Client(self.directory)
        self.addCleanup(self.client.close)

    def test_right_file(self):
        self.assertEqual(self.client.open(self.path("right.yaml"), CONFIG), [])

    def test_wrong_key(self):
        found = self.client.open(self.path("wrong.yaml"), CONFIG.replace("population", "poulation"))
        self.assertTrue(any("poulation" in one["message"] for one in found), found)
        self.assertEqual({one["range"]["start"]["line"] for one in found if "poulation" in one["message"]}, {8})

    def test_wrong_value(self):
        found = self.client.open(self.path("value.yaml"), CONFIG.replace("population: 100", "population: many"))
        self.assertTrue(found)

    def test_completion(self):
        text = CONFIG.replace("  population: 100\n", "  popul\n")
        path = self.path("complete.yaml")
        self.client.open(path, text)
        self.assertIn("population", self.client.complete(path, 8, len("  popul")))


if __name__ == "__main__":
    program = unittest.main(verbosity=2, exit=False)
    sys.exit(77 if SERVER is None else not program.result.wasSuccessful())
