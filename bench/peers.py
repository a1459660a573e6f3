#!/usr/bin/env python3
"""Compares the search of the server with servers that people would write around LlamaIndex or Haystack, over the same documents with the same embedder.

    cargo build --release
    python3 -m venv peers && peers/bin/pip install fastapi uvicorn llama-index-core haystack-ai transformers torch safetensors
    peers/bin/python bench/peers.py --program target/release/pikerag --weights all-MiniLM-L6-v2

`--weights` is the folder of the sentence model, with `model.safetensors`; all embed with it. Each peer is FastAPI around the
library's own splitter, in-memory store and retriever, with one process, as the library's documentation begins. Servers take
turns for each line of the table, so that other work on the machine affects all. Every request asks something new. Processor
time is counted apart for the server and for the clients (this process). A peer whose packages are missing is named and left
out. The peers search by vectors; `pikerag` by words, meaning and links between passages (`auto`), and in rows of their own by one of the
first two, and as questions (`ask`) without a language model. Prints Markdown or JSON.

    python3 bench/peers.py --program target/release/pikerag --before OLD/pikerag --docs FOLDER --questions FILE

compares two versions of the program over other documents, with one question for each line of the file; `--weights` is left
out for a search by words alone.
"""

import argparse
import asyncio
import contextlib
import importlib.util
import json
import pathlib
import random
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import server_load

PACKAGES = {"llamaindex": ["llama_index.core", "fastapi", "uvicorn", "transformers", "torch"], "haystack": ["haystack", "fastapi", "uvicorn", "transformers", "torch"]}
PARTS = ["boom", "hoist", "cabin", "cable", "brake", "engine", "hook", "rail", "mast", "drum"]
FAULTS = ["cracked", "was replaced", "was painted", "failed in the frost", "passed its test", "was lubricated", "ran hot"]


def documents(place, n):
    """Writes logs of cranes: every tenth paragraph of a document is about another crane."""
    draw = random.Random(5)
    for at in range(n):
        lines = [f"# Log of crane {at} in {server_load.PORTS[at % 5]}"]
        for day in range(1, 13):
            crane = at if day % 10 else draw.randrange(n)
            part, fault = draw.choice(PARTS), draw.choice(FAULTS)
            lines.append(f"On {day} May {1990 + at % 30} the {part} of crane {crane} {fault}. The crew of {draw.randrange(2, 9)} noted it, and the harbour office filed report {at}-{day}.")
        (place / f"crane-{at}.md").write_text("\n\n".join(lines), encoding="utf-8")


def question(asked):
    """One of the given questions, with something new in it; else a made one."""
    if asked:
        return f"{random.choice(asked)} {random.randrange(10**6)}"
    return f"When did the {random.choice(PARTS)} of crane {random.randrange(10**6)} fail in {random.choice(server_load.PORTS)}?"


class Encoder:
    """The sentence model of the folder: mean of the tokens' vectors, length 1."""

    def __init__(self, weights):
        import torch
        from transformers import AutoModel, AutoTokenizer

        self.torch, self.tokenizer, self.model = torch, AutoTokenizer.from_pretrained(weights), AutoModel.from_pretrained(weights).eval()

    def encode(self, texts):
        vectors = []
        with self.torch.inference_mode():
            for first in range(0, len(texts), 64):
                batch = self.tokenizer(texts[first : first + 64], padding=True, truncation=True, max_length=256, return_tensors="pt")
                hidden, mask = self.model(**batch).last_hidden_state, batch["attention_mask"].unsqueeze(-1)
                mean = (hidden * mask).sum(1) / mask.sum(1)
                vectors += self.torch.nn.functional.normalize(mean, dim=1).tolist()
        return vectors


def llamaindex(docs, weights):
    """A search function over the documents; takes a query and how many passages."""
    from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.node_parser import SentenceSplitter

    encoder = Encoder(weights)

    class Local(BaseEmbedding):
        def _get_query_embedding(self, query):
            return encoder.encode([query])[0]

        async def _aget_query_embedding(self, query):
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text):
            return encoder.encode([text])[0]

        def _get_text_embeddings(self, texts):
            return encoder.encode(texts)

    read = SimpleDirectoryReader(docs).load_data()
    index = VectorStoreIndex.from_documents(read, transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=0)], embed_model=Local())

    def search(query, k):
        found = index.as_retriever(similarity_top_k=k).retrieve(query)
        return [{"text": hit.node.get_content(), "score": hit.score} for hit in found]

    return search


def haystack(docs, weights):
    """As `llamaindex`."""
    from haystack import Document
    from haystack.components.preprocessors import DocumentSplitter
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    encoder, store = Encoder(weights), InMemoryDocumentStore(embedding_similarity_function="cosine")
    read = [Document(content=path.read_text(encoding="utf-8"), meta={"name": path.name}) for path in sorted(pathlib.Path(docs).iterdir())]
    splitter = DocumentSplitter(split_by="word", split_length=180)
    splitter.warm_up()
    parts = splitter.run(documents=read)["documents"]
    for part, vector in zip(parts, encoder.encode([part.content for part in parts])):
        part.embedding = vector
    store.write_documents(parts)
    retriever = InMemoryEmbeddingRetriever(document_store=store)

    def search(query, k):
        found = retriever.run(query_embedding=encoder.encode([query])[0], top_k=k)["documents"]
        return [{"text": hit.content, "score": hit.score} for hit in found]

    return search


def serve(peer, docs, weights, port):
    """Runs a peer's server: `POST /search` with `query` and `k`. Routes without `async` run in FastAPI's threads."""
    import uvicorn
    from fastapi import Body, FastAPI

    search = {"llamaindex": llamaindex, "haystack": haystack}[peer](docs, weights)
    app = FastAPI()

    @app.post("/search")
    def found(query: str = Body(), k: int = Body(8)):
        return {"hits": search(query, k)}

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


class Server(server_load.Server):
    """A server of one name, ready for requests after `began` seconds, indexing included."""

    def __init__(self, name, command, place, path, kinds=(None,), asked=()):
        self.name, self.place, self.path, self.kinds, self.asked = name, place, path, kinds, asked
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host, self.port = free.getsockname()
        self.address = f"{self.host}:{self.port}"
        began = time.perf_counter()
        with (place / f"{name}.log").open("ab") as log:
            self.process = subprocess.Popen(command(self.port), cwd=place, stdout=log, stderr=log)
        try:
            while not self.answers():
                if self.process.poll() is not None:
                    raise SystemExit(f"{name} ended at its start:\n{(place / f'{name}.log').read_text()[-2000:]}")
                time.sleep(0.05)
        except BaseException:
            self.process.terminate()
            raise
        self.began = time.perf_counter() - began

    def request(self, kind):
        """Path and body of a request."""
        text = question(self.asked)
        if kind == "ask":
            return f"{server_load.BASE}/ask", json.dumps({"question": text}).encode()
        return self.path, json.dumps({"query": text, "k": 8} | ({"by": kind} if kind else {})).encode()

    def answers(self):
        try:
            return bool(self.get(*self.request(None))["hits"])
        except (urllib.error.URLError, ConnectionError):
            return False

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) >> 10


async def clients(server, kind, count, until, tally):
    async def one():
        client = server_load.Client(server, tally)
        while time.perf_counter() < until:
            await client.send("POST", *server.request(kind))
        client.close()

    await asyncio.gather(*(one() for _ in range(count)))


async def measure(server, kind, count, seconds):
    spent, own, began, tally = server.figures()[0], time.process_time(), time.perf_counter(), []
    await clients(server, kind, count, began + seconds, tally)
    whole = time.perf_counter() - began
    answered = sum(status == 200 for status, _, _ in tally) or 1
    each = (server.figures()[0] - spent) * 1000 / answered
    costs = {"server_ms": round(each, 1), "client_ms": round((time.process_time() - own) * 1000 / answered, 1), "cores": round((server.figures()[0] - spent) / whole, 2), "resident_mib": server.resident()}
    name = f"{server.name}, {kind}"
    return {"clients": count, "program": name, **server_load.summed(tally, whole), **costs}


async def run(given, servers):
    lines = []
    for server in servers:
        await clients(server, None, 4, time.perf_counter() + 2, [])
    kinds = list(dict.fromkeys(kind for server in servers for kind in server.kinds))
    for count in given.clients:
        for kind in kinds:
            for server in servers:
                if kind not in server.kinds:
                    continue
                lines.append(await measure(server, kind, count, given.seconds))
                print(lines[-1], file=sys.stderr)
    await asyncio.sleep(60)
    return lines, {server.name: server.resident() for server in servers}


def markdown(servers, lines, rest):
    rows = ["| clients | program | a second | p50 ms | p99 ms | server ms a request | client ms | cores of the server | resident MiB |", "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    names = ("clients", "program", "a_second", "p50_ms", "p99_ms", "server_ms", "client_ms", "cores", "resident_mib")
    rows += ["| " + " | ".join(str(line[name]) for name in names) + " |" for line in lines]
    rows += ["", "| program | seconds to index and start | MiB after a minute of rest |", "| --- | ---: | ---: |"]
    rows += [f"| {server.name} | {server.began:.1f} | {rest[server.name]} |" for server in servers]
    return "\n".join(rows)


def has(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program")
    resolved = lambda path: str(pathlib.Path(path).resolve())
    arguments.add_argument("--before", type=resolved, help="another version of the program; the peers are left out then")
    arguments.add_argument("--weights", type=resolved, help="folder of the sentence model; without it, words alone")
    arguments.add_argument("--documents", type=int, default=200, help="how many to make")
    arguments.add_argument("--docs", type=resolved, help="a folder of documents, instead of made ones")
    arguments.add_argument("--questions", type=pathlib.Path, help="a question in each line, instead of made ones")
    arguments.add_argument("--kinds", nargs="+", default=["auto", "meaning", "words", "ask"])
    arguments.add_argument("--seconds", type=float, default=10, help="for each line")
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--serve", nargs=3, metavar=("PEER", "DOCS", "PORT"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.serve:
        peer, docs, port = given.serve
        return serve(peer, docs, given.weights, int(port))
    if not given.program:
        arguments.error("--program is missing")
    asked = [line for line in given.questions.read_text(encoding="utf-8").split("\n") if line.strip()] if given.questions else []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place = pathlib.Path(folder)
        docs = pathlib.Path(given.docs or place / "docs")
        if not given.docs:
            docs.mkdir()
            documents(docs, given.documents)
        embedder = f'kind = "local"\nweights = {json.dumps(given.weights, ensure_ascii=False)}' if given.weights else 'kind = "none"'
        (place / "pikerag.toml").write_text(f"[embed]\n{embedder}\n", encoding="utf-8")
        servers = []

        def start(*given_to_server):
            server = Server(*given_to_server)
            # A server that starts later may fail.
            stack.callback(server.process.wait, 90)
            stack.callback(server.process.terminate)
            servers.append(server)

        def ours(name, program):
            program, base = shlex.quote(str(pathlib.Path(program).resolve())), f"{name}-base"
            command = lambda port: ["sh", "-c", f"{program} --config pikerag.toml --offline --base {base} index {shlex.quote(str(docs))} && exec {program} --config pikerag.toml --offline --base {base} serve --port {port}"]
            kinds = [kind for kind in given.kinds if given.weights or kind != "meaning"]
            start(name, command, place, f"{server_load.BASE}/search", kinds, asked)

        ours("pikerag", given.program)
        if given.before:
            ours("before", given.before)
        for peer, packages in PACKAGES.items() if given.weights and not given.before else []:
            absent = [package for package in packages if not has(package)]
            if absent:
                print(f"{peer} is LEFT OUT: {', '.join(absent)} not installed", file=sys.stderr)
                continue
            command = lambda port, peer=peer: [sys.executable, __file__, "--weights", given.weights, "--serve", peer, str(docs), str(port)]
            start(peer, command, place, "/search", ["auto"], asked)
        lines, rest = asyncio.run(run(given, servers))
        print(json.dumps({"lines": lines, "rest": rest}, indent=1) if given.json else markdown(servers, lines, rest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
