#!/usr/bin/env python3
"""Measures the cost of embedding a paragraph, beside onnxruntime and sentence-transformers.

    python3 bench/embedders.py BINARY WEIGHTS CORPUS [-n 150] [--rounds 3] [--python PYTHON] [--onnx FILE]

BINARY is a release build of pikerag, WEIGHTS the folder of all-MiniLM-L6-v2, CORPUS a file of JSON lines with
`title` and `text`, of which the first -n are embedded. PYTHON is an interpreter with
`pip install onnxruntime onnx tokenizers sentence-transformers`; absent packages are skipped, and the output names
them. FILE keeps the weights as eight-bit ONNX (torch writes them once); without it they are made for each run.

All embed the same texts, which pikerag makes of the corpus: first the paragraphs below their titles, and the titles;
then the sentences, too. pikerag takes a sentence's vector from the pass of its paragraph; the others embed it separately.
They run first on one processor, then on all that this process may use, in turn in one run. Texts are cut at 256 tokens.

pikerag is timed as its users run it: `pikerag --offline index` into a fresh base, minus the same with words only. This
includes reading the weights and storing the vectors. The others are warm: their times are of tokenizing and embedding, 32
texts at a time, sorted by length. Their threads sleep while they wait. By default they spin, which more than doubled their
processor time on a machine with other work. Each cell is the least and the median of the rounds.
"""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile, time

PARAGRAPHS, SENTENCES = "paragraphs and titles", "with sentences"
PACKAGES = {"onnxruntime": "onnxruntime onnx tokenizers torch transformers", "sentence_transformers": "sentence-transformers"}
# Prints its name, then replies to the name of each list of texts with the seconds for embedding them.
WORKER = r'''
import json, os, sys, time
kind, weights, onnx, lists = sys.argv[1:]
n_threads = len(os.sched_getaffinity(0))
def export():
    import onnxruntime.quantization as quantization, torch, transformers
    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            # Eager attention, because it exports to plain products.
            self.model = transformers.AutoModel.from_pretrained(weights, attn_implementation="eager")
        def forward(self, ids, mask, types):
            return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
    names, ones, wide = ["ids", "mask", "types"], torch.ones(2, 8, dtype=torch.long), onnx + ".fp32"
    torch.onnx.export(States().eval(), (ones, ones, ones * 0), wide, input_names=names, output_names=["states"],
                      dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names}, opset_version=17, dynamo=False)
    # The fastest with AVX2 of QInt8 and QUInt8, by row and not, with and without onnxruntime.transformers.optimizer.
    quantization.quantize_dynamic(wide, onnx, weight_type=quantization.QuantType.QInt8, per_channel=True)
    os.remove(wide)
def onnxruntime():
    import numpy, onnxruntime, tokenizers
    if not os.path.exists(onnx):
        export()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(os.path.join(weights, "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    def embed(texts):
        texts = sorted(texts, key=len, reverse=True)
        for first in range(0, len(texts), 32):
            tokens = tokenizer.encode_batch(texts[first:first + 32])
            ids = numpy.array([it.ids for it in tokens], numpy.int64)
            mask = numpy.array([it.attention_mask for it in tokens], numpy.int64)
            states, = session.run(None, {"ids": ids, "mask": mask, "types": ids * 0})
            sums = (states * mask[..., None]).sum(1)
            sums /= numpy.linalg.norm(sums, axis=1, keepdims=True)
    return embed, f"onnxruntime {onnxruntime.__version__}, int8"
def sentence_transformers():
    import sentence_transformers, torch
    torch.set_num_threads(n_threads)
    model = sentence_transformers.SentenceTransformer(weights, device="cpu")
    model.max_seq_length = 256
    embed = lambda texts: model.encode(texts, batch_size=32, show_progress_bar=False)
    return embed, f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}, fp32"
lists = json.load(open(lists, encoding="utf-8"))
embed, name = globals()[kind]()
embed(next(iter(lists.values()))[:64])
print(json.dumps({"name": name}), flush=True)
for line in sys.stdin:
    start, wall = time.process_time(), time.perf_counter()
    embed(lists[line.strip()])
    print(json.dumps({"took": [time.process_time() - start, time.perf_counter() - wall]}), flush=True)
'''


class Pikerag:
    """The product: indexes a corpus into a fresh base."""
    def __init__(self, given, corpus, folder):
        self.binary, self.corpus, self.folder = os.path.abspath(given.binary), corpus, folder
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("PIKERAG_")}
        self.env["PIKERAG_WEIGHTS"] = os.path.abspath(given.weights)
        self.name = self.run("--version").strip() + ", 16 bits"

    def run(self, *words):
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, cwd=self.folder, env=self.env)
        return done.stdout if done.returncode == 0 else sys.exit(f"pikerag ended with {done.returncode}: {done.stderr}")

    def index(self, base, what, embed):
        """The number of new vectors, and the seconds: processor time, wall."""
        settings = os.path.join(self.folder, "settings.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"[index]\natoms = {['sentences'] if what == SENTENCES else []}\n[embed]\nkind = '{embed}'\n")
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        output = self.run("--offline", "--json", "--config", settings, "--base", base, "index", self.corpus)
        wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(output)["report"]["vectors"], [processor, wall]

    def timed(self, what, n_texts):
        with tempfile.TemporaryDirectory(dir=self.folder) as bases:
            _, words = self.index(os.path.join(bases, "words"), what, "none")
            n_vectors, meaning = self.index(os.path.join(bases, "meaning"), what, "local")
        if n_vectors != n_texts:
            sys.exit(f"pikerag made {n_vectors} vectors of {n_texts} texts")
        return [both - without for both, without in zip(meaning, words)]

    def texts(self):
        """The texts that it embeds: lists by name."""
        base = os.path.join(self.folder, "texts")
        self.index(base, SENTENCES, "none")
        nodes = [json.loads(line) for line in self.run("--base", base, "export").splitlines()]
        of = lambda kind: [node for node in nodes if node.get("node") == kind]
        wholes = [f"{it['title']}\n{it['text']}" for it in of("chunk")] + [it["title"] for it in of("source")]
        return {PARAGRAPHS: wholes, SENTENCES: wholes + [it["text"] for it in of("atom")]}


class Worker:
    """A Python package in a process of its own, loaded and warm; without a name if it is absent."""
    def __init__(self, given, kind, onnx, lists):
        n = str(len(os.sched_getaffinity(0)))
        env = os.environ | {"OMP_NUM_THREADS": n, "RAYON_NUM_THREADS": n, "OMP_WAIT_POLICY": "passive", "HF_HUB_OFFLINE": "1"}
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([given.python, "-c", WORKER, kind, os.path.abspath(given.weights), onnx, lists], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env)
        self.name = self.receive("name")

    def receive(self, key):
        # Packages print lines of their own.
        lines = (line for line in self.process.stdout if line.startswith(f'{{"{key}"'))
        return next((json.loads(line)[key] for line in lines), None)

    def why(self):
        self.process.wait()
        self.errors.seek(0)
        return (self.errors.read().strip().splitlines() or ["no reason given"])[-1]

    def timed(self, what, n_texts):
        print(what, file=self.process.stdin, flush=True)
        return self.receive("took") or sys.exit(f"{self.name}: {self.why()}")


def by_turns(n_rounds, runners, texts):
    """Seconds of processor time and of wall by list and embedder, a pair for each round."""
    turns = [(what, runner) for what in texts for runner in runners]
    times = {(what, runner.name): [] for what, runner in turns}
    for _ in range(n_rounds):
        for what, runner in turns:
            times[what, runner.name].append(runner.timed(what, len(texts[what])))
    return times


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("binary", "weights", "corpus", "--onnx"):
        parser.add_argument(name)
    parser.add_argument("-n", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    every, packages = sorted(os.sched_getaffinity(0)), dict(PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        corpus, lists, onnx = (os.path.join(folder, name) for name in ("corpus.jsonl", "lists.json", "int8.onnx"))
        onnx = os.path.abspath(given.onnx or onnx)
        with open(given.corpus, encoding="utf-8") as lines, open(corpus, "w", encoding="utf-8") as first:
            n_paragraphs = sum(first.write(line) > 0 for _, line in zip(range(given.n), lines))
        pikerag = Pikerag(given, corpus, folder)
        texts = pikerag.texts()
        with open(lists, "w", encoding="utf-8") as file:
            json.dump(texts, file)
        print(f"{n_paragraphs} paragraphs, {given.rounds} rounds; ms for a paragraph, least / median")
        for processors in [every[-1:], every][-len(every):]:  # Once if there is only one.
            os.sched_setaffinity(0, processors)  # Children inherit it.
            workers = {kind: Worker(given, kind, onnx, lists) for kind in list(packages)}
            for kind in [kind for kind, worker in workers.items() if not worker.name]:
                absent = workers.pop(kind)
                print(f"\nskipped: {kind}: {absent.why()}: {given.python} -m pip install {packages.pop(kind)}")
            runners = [pikerag, *workers.values()]
            print(f"\n| on {len(processors)} of {len(every)} processors | embedder | processor time | wall |\n| --- | --- | ---: | ---: |")
            for (what, name), took in by_turns(given.rounds, runners, texts).items():
                columns = [[1000 * seconds / n_paragraphs for seconds in column] for column in zip(*took)]
                cells = [f"{min(column):.1f} / {statistics.median(column):.1f}" for column in columns]
                print(f"| {what}: {len(texts[what])} texts | {name} | {' | '.join(cells)} |", flush=True)
            for worker in workers.values():
                worker.process.stdin.close()
                worker.process.wait()


main()
