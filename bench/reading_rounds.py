#!/usr/bin/env python3
"""Measures what a reading round of `adaptive` shows: tokens, and the sentences that an answer needs.

    cargo build --release
    cargo build --release --package pikerag-methods --example reading_rounds
    python3 bench/reading_rounds.py sentences --program target/release/pikerag --set musique --questions Q.jsonl --corpus C.jsonl
    python3 bench/reading_rounds.py replies --transcripts adaptive.jsonl

`sentences` draws questions, indexes their paragraphs together (MiniLM, sentences as atoms, no model), takes the eight chunks of
`search` and counts the sentences that the answer needs: in whole passages within 1,500 tokens, and after the cut. A needed sentence
is one that the data set marks (HotpotQA), or one of the marked paragraph that holds the answer of a step (MuSiQue, 2Wiki).

`replies` takes prompts of `adaptive` with a model's replies (JSON lines with `set`, `id`, `prompt`, `schema`, `reply`) and computes
the prompts that today's program would send if the model found the same facts. A fact is visible if the prompt shows it.

No model is called. The example program `reading_rounds` (`--chooser`) chooses and splits sentences and counts tokens as `adaptive`
does. Needs nothing but Python and the programs.
"""

import argparse
import collections
import functools
import json
import pathlib
import random
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
LOOK = ROOT / "crates/methods/src/prompts/look.md"
CHUNKS, ROUND_TOKENS, LONG_FACT, WITHOUT_NEWS, LOOKS = 8, 1500, 4, 2, 4


class Program:
    """The example program `reading_rounds`, which answers one request a line."""

    def __init__(self, path):
        self.child = subprocess.Popen([str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, kind, request):
        self.child.stdin.write(json.dumps({kind: request}) + "\n")
        self.child.stdin.flush()
        reply = self.child.stdout.readline()
        if not reply:
            raise SystemExit(f"the program ended with {self.child.wait()} at the request {kind!r}")
        return json.loads(reply)


PROGRAM = None


@functools.cache
def tokens(text):
    return PROGRAM.ask("tokens", text)


@functools.cache
def words(text):
    return PROGRAM.ask("words", text)


@functools.cache
def sentences(text):
    return PROGRAM.ask("sentences", text)


def bare(text):
    return re.sub(r"\W+", "", text.lower())


def in_first_round(question, passages, limit):
    """For each passage, a title and a text, the places of the chosen sentences and the text that the prompt shows."""
    listed = [{"title": title, "text": text} for title, text in passages]
    return PROGRAM.ask("first", {"question": question, "passages": listed, "chunks": CHUNKS, "passage_tokens": limit})


def in_later_round(questions, passages, limit):
    """The same, where a passage that a round showed also has the places shown last and its facts."""
    listed = []
    for title, text, *known in passages:
        places, facts = known if known else (None, None)
        listed.append({"title": title, "text": text, "known": {"places": places, "facts": facts} if known else None})
    return PROGRAM.ask("later", {"questions": questions, "passages": listed, "passage_tokens": limit})


def as_shown(passages):
    return "\n\n".join(f"[{number}] {title}\n{text}" for number, (title, text) in enumerate(passages, 1))


# The sentences that an answer needs.


def needed(name, question, corpus):
    """For each step the paragraph, and its sentences that would do."""
    by_title = {found["title"].lower(): found["paragraph_id"] for found in question["supporting"]}
    steps = []
    if name == "hotpotqa":
        for found in question["supporting"]:
            text = corpus[found["paragraph_id"]]["text"].encode()
            starts = corpus[found["paragraph_id"]]["sent_byte_offsets"] + [len(text)]
            if found["sent_idx"] + 1 < len(starts):
                part = text[starts[found["sent_idx"]] : starts[found["sent_idx"] + 1]]
                steps.append((found["paragraph_id"], [part.decode().strip()]))
        return steps
    if name == "musique":
        asked = [(step["title"], step["answer"]) for step in question["decomposition"]]
    else:
        dated = re.compile(r"\d{4}$")
        asked = [(of, value.split()[-1] if dated.search(value) else value) for of, _, value in question["evidences"]]
    for title, value in asked:
        paragraph = by_title.get(title.lower())
        if paragraph:
            steps.append((paragraph, [part for part in sentences(corpus[paragraph]["text"]) if value.lower() in part.lower()]))
    return [step for step in steps if step[1]]


def found_by_search(program, folder, questions, paragraphs):
    folder = pathlib.Path(folder)
    lines = [json.dumps(paragraph, ensure_ascii=False) for paragraph in paragraphs]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "pikerag.toml").write_text('[index]\natoms = ["sentences"]\n')
    start = [str(program), "--offline", "--config", "pikerag.toml", "--base", "base"]
    subprocess.run([*start, "index", "corpus.jsonl"], cwd=folder, check=True, capture_output=True)
    for question in questions:
        search = [*start, "search", "--json", "-k", str(CHUNKS), question["question"]]
        reply = subprocess.run(search, cwd=folder, check=True, capture_output=True, text=True)
        chunks = [hit["chunk"] for hit in json.loads(reply.stdout)]
        yield question, [(chunk["uri"].split("#")[1], chunk["title"], chunk["text"]) for chunk in chunks]


def whole_within(hits, limit):
    kept = []
    for hit in hits:
        size = tokens(hit[1]) + tokens(hit[2])
        if not kept or size <= limit:
            kept.append(hit)
            limit = max(0, limit - size)
    return kept


def measure_sentences(arguments):
    corpus = {line["id"]: line for line in map(json.loads, arguments.corpus.open())}
    known = {line["id"] for line in map(json.loads, arguments.without.open())} if arguments.without else set()
    questions = [line for line in map(json.loads, arguments.questions.open()) if line["id"] not in known]
    draw = random.Random(arguments.seed)
    questions = draw.sample(questions, arguments.sample)
    ids = [found for question in questions for found in question["paragraph_ids"]]
    ids += [found["paragraph_id"] for question in questions for found in question["supporting"]]
    ids = list(dict.fromkeys(ids))
    rest = [paragraph for paragraph in corpus if paragraph not in ids]
    ids += draw.sample(rest, max(0, arguments.paragraphs - len(ids)))
    sums = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for question, hits in found_by_search(arguments.program, folder, questions, [corpus[paragraph] for paragraph in ids]):
            whole = whole_within(hits, ROUND_TOKENS)
            chosen = in_first_round(question["question"], [hit[1:] for hit in hits], arguments.passage_tokens)
            parts = [(name, title, part["text"]) for (name, title, _), part in zip(hits, chosen)]
            for method, shown in (("whole", whole), ("cut", parts)):
                texts, sum_of = {name: bare(text) for name, _, text in shown}, sums[method]
                sum_of["tokens"] += tokens(as_shown([hit[1:] for hit in shown]))
                for paragraph, forms in needed(arguments.set, question, corpus):
                    sum_of["needed"] += 1
                    sum_of["paragraphs"] += paragraph in texts
                    sum_of["sentences"] += any(bare(form) in texts.get(paragraph, "") for form in forms)
    print("| read | needed | paragraphs found | sentences shown | tokens |\n| --- | ---: | ---: | ---: | ---: |")
    for method, sum_of in sums.items():
        counts = [sum_of[name] for name in ("needed", "paragraphs", "sentences")]
        print(f"| {method} | " + " | ".join(map(str, counts)) + f" | {sum_of['tokens'] / len(questions):.0f} |")


# Recorded replies.


def rendered(template, form, values, last):
    text = template.replace("{{ lookups }}", "3").replace("{{ form }}", form)
    for name, on in (("answers", True), ("last", last), ("facts", values["facts"]), ("tried", values["tried"])):
        block = re.compile(r"(\n\{%-|\{%) if " + name + r" %\}(.*?)(\n\{%-|\{%) endif %\}", re.DOTALL)
        text = block.sub(lambda found: found[2] if on else "", text)
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value)
    assert "{{" not in text and "{%" not in text, text
    return text


def sections(prompt):
    pieces = re.split(r"\n# ([A-Z][a-z ]+)\n", "\n" + prompt.lstrip())
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2])))


def passages_of(prompt):
    blocks = re.split(r"(?:^|\n\n)(?=\[\d+\] )", sections(prompt)["Context"])
    heads = [re.match(r"\[(\d+)\] (.*)\n([\s\S]*)", block) for block in blocks]
    return {int(head[1]): (head[2], head[3].strip()) for head in heads if head}


def size_of(call):
    return tokens(call["prompt"]) + tokens(json.dumps(call["reply"], ensure_ascii=False))


def words_of(text):
    return re.sub(r"\W+", " ", text.lower()).strip()


def again(calls, template, limit, sum_of):
    """Adds the cost of one question as it was and as it is."""
    sum_of["calls before"] += len(calls)
    sum_of["tokens before"] += sum(map(size_of, calls))
    question = sections(calls[0]["prompt"])["Question"]
    form = re.search(r'"answer": (.*?) Where the facts', calls[0]["prompt"])[1]
    looks = [call for call in calls if call["schema"] == "look"]
    known, facts, tried, ever, last, without_news, answer, is_open = {}, [], [], set(), {}, 0, "", True
    for number, call in enumerate(looks, 1):
        found = passages_of(call["prompt"])
        known.update(found)
        if number == 1:
            names, chosen = list(found), in_first_round(question, list(found.values()), limit)
        else:
            with_facts = sorted({passage for passage, _ in facts})
            names, candidates = [name for name in found if name not in with_facts] + with_facts, []
            for name in names:
                own = [fact for passage, fact in facts if passage == name]
                candidates.append((*known[name], last.get(name, []), own) if name in ever else known[name])
            chosen = in_later_round(looks[number - 2]["reply"]["missing"], candidates, limit)
        parts = {name: part for name, part in zip(names, chosen) if part["places"]}
        if not parts:
            break
        last = {name: part["places"] for name, part in parts.items()}
        ever |= set(last)
        passages = [(known[name][0], parts[name]["text"]) for name in sorted(parts)]
        values = {
            "context": as_shown(passages),
            "facts": "\n".join(f"- {fact} ({known[passage][0]})" for passage, fact in facts),
            "tried": "\n".join(f"- {asked}" for asked in tried),
            "question": question,
        }
        reply, new = call["reply"], []
        for fact in reply["facts"]:
            own, passage = words_of(fact["fact"]), fact["passage"]
            is_long = LONG_FACT <= len(own.split())
            if not any(own in words_of(held) and (is_long or passage == name) for name, held in facts + new):
                new.append((passage, fact["fact"]))
        for passage, fact in new:
            if bare(fact) in bare(known[passage][1]):
                sum_of["facts"] += 1
                sum_of["facts visible"] += any(bare(fact) in bare(text) for _, text in passages)
        own = {**reply, "facts": [{"passage": passage, "fact": fact} for passage, fact in new]}
        sum_of["calls"] += 1
        sum_of["fixed text"] += tokens(rendered(template, form, dict.fromkeys(values, ""), number == LOOKS))
        for name in ("context", "facts", "tried", "question"):
            sum_of[f"tokens of {name}"] += tokens(values[name])
        sum_of["reply"] += tokens(json.dumps(own, ensure_ascii=False))
        sum_of["tokens"] += tokens(rendered(template, form, values, number == LOOKS)) + tokens(json.dumps(own, ensure_ascii=False))
        has_news = new or (reply["answer"] and reply["answer"] != answer) or number == 1
        without_news = 0 if has_news else without_news + 1
        facts, given, answer = facts + new, reply["answer"], reply["answer"] or answer
        is_open = not reply["sufficient"]
        if not is_open or without_news == WITHOUT_NEWS:
            break
        tried += [asked for asked in reply["missing"][:3] if asked not in tried]
    held = {word for passage, _ in facts for part in known[passage] for word in words(part)}
    own = set(words(given or ""))
    if is_open and not (own and own <= held):
        for call in (call for call in calls if call["schema"] != "look"):
            sum_of["calls"] += 1
            sum_of["last reading"] += size_of(call)
            sum_of["tokens"] += size_of(call)
            given = call["reply"]["answer"]
    sum_of["other answers"] += given != calls[-1]["reply"]["answer"]


def measure_replies(arguments):
    template = LOOK.read_text()
    questions = collections.defaultdict(list)
    for line in map(json.loads, arguments.transcripts.open()):
        reply = line["reply"]
        questions[line["set"], line["id"]].append({**line, "reply": json.loads(reply) if isinstance(reply, str) else reply})
    sums, counts = collections.defaultdict(collections.Counter), collections.Counter()
    for (name, _), calls in questions.items():
        counts[name] += 1
        again(calls, template, arguments.passage_tokens, sums[name])
    for name, sum_of in sums.items():
        print(f"{name}, {counts[name]} questions")
        for part, value in sum_of.items():
            is_sum = part.startswith("facts") or part == "other answers"
            print(f"  {part}: {value if is_sum else round(value / counts[name], 2 if 'calls' in part else 0)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    by_sentences, by_replies = kinds.add_parser("sentences"), kinds.add_parser("replies")
    for kind, run in ((by_sentences, measure_sentences), (by_replies, measure_replies)):
        kind.add_argument("--passage-tokens", type=int, default=240)
        kind.add_argument("--chooser", type=pathlib.Path, default=ROOT / "target/release/examples/reading_rounds")
        kind.set_defaults(run=run)
    by_sentences.add_argument("--program", type=pathlib.Path, required=True)
    by_sentences.add_argument("--set", choices=["musique", "hotpotqa", "2wiki"], required=True)
    by_sentences.add_argument("--questions", type=pathlib.Path, required=True)
    by_sentences.add_argument("--corpus", type=pathlib.Path, required=True)
    by_sentences.add_argument("--without", type=pathlib.Path, help="JSON lines whose `id` are left out of the draw")
    by_sentences.add_argument("--sample", type=int, default=40)
    by_sentences.add_argument("--seed", type=int, default=35)
    by_sentences.add_argument("--paragraphs", type=int, default=300, help="the least number of paragraphs; random ones are added")
    by_replies.add_argument("--transcripts", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.program = getattr(arguments, "program", None) and arguments.program.resolve()
    global PROGRAM
    PROGRAM = Program(arguments.chooser.resolve())
    arguments.run(arguments)


if __name__ == "__main__":
    main()
