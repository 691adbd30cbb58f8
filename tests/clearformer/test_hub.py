"""The way to the hub, against a server on this machine that speaks its protocol: answers, redirects, failures."""

import json
import os
import subprocess
import sys
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from clearformer.pretrained import from_pretrained

from tests.clearformer.families import N, V, theirs_of

pytestmark = pytest.mark.slow
COMMIT = "0123456789abcdef0123456789abcdef01234567"
IDS = torch.arange(N)[None] % V
ASK = """
import json, sys, torch
from clearformer.pretrained import fetch, from_pretrained
answers = {}
for name, revision in json.loads(sys.argv[1]):
    try:
        model = from_pretrained(name, revision=revision)
        files = sorted(path.name for path in fetch(name, revision=revision).iterdir())
        answers[name] = [files, model(torch.tensor(json.loads(sys.argv[2]))).flatten().tolist()]
    except Exception as error:
        answers[name] = [type(error).__name__, str(error)]
print(json.dumps(answers))
"""


class Hub(ThreadingHTTPServer):
    """The part of the hub's protocol that fetching needs; ``root`` has a folder for each name, ``asked`` what came."""

    def __init__(self, root: Path):
        super().__init__(("127.0.0.1", 0), Answer)
        self.root, self.asked = root, []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.asked.append((self.command, path))
        if path.startswith("/api/models/"):
            tree = "/tree/" in path
            name, _, revision = path.removeprefix("/api/models/").rpartition("/tree/" if tree else "/revision/")
            return self.listing(name, revision, tree=tree)
        if path.startswith("/cdn/"):
            return self.send(200, (self.server.root / path.removeprefix("/cdn/")).read_bytes())
        name, _, rest = path.strip("/").partition("/resolve/")
        file = self.server.root / name / rest.partition("/")[2]
        if not file.is_file():
            return self.send(404, b"", {"X-Error-Code": "EntryNotFound"})
        content = file.read_bytes()
        tag = {"X-Repo-Commit": COMMIT, "ETag": f'"{sha256(content).hexdigest()}"'}
        if file.suffix != ".safetensors":
            return self.send(200, content, tag)
        linked = {"X-Linked-ETag": tag["ETag"], "X-Linked-Size": str(len(content))}
        return self.send(302, b"", tag | linked | {"Location": f"{self.server.url}/cdn/{name}/{file.name}"})

    do_HEAD = do_GET

    def listing(self, name, revision, *, tree):
        folder = self.server.root / name
        if not folder.is_dir():
            return self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        if revision not in ("main", "v1", COMMIT):
            return self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        files = [(path.name, path.stat().st_size) for path in sorted(folder.iterdir())]
        if tree:
            said = [{"type": "file", "path": path, "size": size, "oid": "0" * 40} for path, size in files]
        else:
            said = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": path} for path, _ in files]}
        return self.send(200, json.dumps(said).encode(), {"Content-Type": "application/json"})

    def send(self, code, content, headers=()):
        self.send_response(code)
        for key, value in (dict(headers) | {"Content-Length": str(len(content))}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    theirs_of("llama").save_pretrained(root / "tiny" / "llama", max_shard_size="10KB")
    (root / "tiny" / "llama" / "tokenizer.json").write_text("{}")
    (root / "tiny" / "llama" / "pytorch_model.bin").write_bytes(b"must not be fetched")
    theirs_of("marian").save_pretrained(root / "tiny" / "pickle")
    (root / "tiny" / "pickle" / "model.safetensors").rename(root / "tiny" / "pickle" / "pytorch_model.bin")
    theirs_of("gpt2").save_pretrained(root / "tiny" / "empty")
    (root / "tiny" / "empty" / "model.safetensors").unlink()
    server = Hub(root)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(home: Path, url: str, *names):
    """What from_pretrained makes of these names, or says, in a process for which the hub is at that address."""
    environment = os.environ | {"HF_ENDPOINT": url, "HF_HOME": str(home), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_ETAG_TIMEOUT": "600"}
    command = [sys.executable, "-c", ASK, json.dumps(names), json.dumps(IDS.tolist())]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def answers(hub, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    names = [("tiny/llama", "v1"), ("tiny/pickle", None), ("tiny/empty", None), ("no/such", None)]
    return home, ask(home, hub.url, *names, ("tiny/gone", "v2"))


def test_a_model_in_parts_comes_with_its_tokenizer_and_without_pickles(hub, answers):
    files, logits = answers[1]["tiny/llama"]
    expected = from_pretrained(hub.root / "tiny" / "llama")(IDS).flatten()
    assert torch.equal(torch.tensor(logits), expected)
    assert {"config.json", "tokenizer.json", "model.safetensors.index.json"} <= set(files)
    assert ("GET", "/api/models/tiny/llama/revision/v1") in hub.asked
    assert not [path for _, path in hub.asked if path.endswith(".bin")]


def test_a_model_with_pickles_only_is_refused_with_the_cure(answers):
    """The pickle is never in the folder that was fetched: the hub must be asked for names."""
    kind, message = answers[1]["tiny/pickle"]
    assert kind == "ValueError" and "tiny/pickle has" in message and "pytorch_model.bin only, a pickle" in message
    assert "transformers.MarianMTModel.from_pretrained('tiny/pickle').save_pretrained('converted')" in message


def test_what_is_not_there_is_said_and_the_others_are_answered(answers):
    kind, message = answers[1]["tiny/empty"]
    assert kind == "FileNotFoundError" and "neither model.safetensors nor" in message
    for name in ("no/such", "tiny/gone"):
        kind, message = answers[1][name]
        assert kind == "FileNotFoundError" and f"'{name}' is no folder here" in message


def test_what_was_fetched_once_needs_no_network(hub, answers):
    home, before = answers
    nowhere = "http://127.0.0.1:9"
    after = ask(home, nowhere, ("tiny/llama", "v1"), ("tiny/other", None))
    assert after["tiny/llama"] == before["tiny/llama"]
    assert after["tiny/other"][0] == "ConnectionError"  # and not the word for a name that is not there
