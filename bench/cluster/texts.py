"""Generates documents and their vectors by clusters, the same for the same seed.

Each topic has a centre on the sphere, and each text names its topic by a word such as `topic17x`. The vector of a text is the
centre of its topic with noise that its other words determine, so the neighbours of a vector are mostly texts of its topic. Words
follow Zipf's law. Two thirds of the sentences of a passage are of its own topic, the others of any.
"""

import array
import asyncio
import base64
import contextlib
import hashlib
import json
import multiprocessing
import random
import re
import zlib

DIMENSIONS, PARTS, NOISES = 384, 24, 16
TOPICS = 1000
# The mean cosine of two vectors of a topic is 1 / (1 + NOISE²), that is 0.69; of two topics 0.
NOISE = 0.67
VOCABULARY = 100_000
SENTENCES, WORDS = 10, 8


def word(draw, commonest=0):
    """A word of five syllables; the n-th most frequent is 1/n times as frequent as the first."""
    rank, text = max(int(VOCABULARY ** draw.random()) - 1, commonest), ""
    for _ in range(4):
        text += "bdfgklmnprtvwzjh"[rank % 16] + "aiou"[rank // 16 % 4]
        rank //= 64
    return text + "ku"


def sentence(draw, topic):
    return f"topic{topic}x {' '.join(word(draw) for _ in range(WORDS))}.".capitalize()


def passage(draw, number):
    topic = draw.randrange(TOPICS)
    topics = [topic if draw.random() < 2 / 3 else draw.randrange(TOPICS) for _ in range(SENTENCES - 1)]
    text = " ".join(sentence(draw, one) for one in [topic, *topics])
    return {"chunk_id": f"p{number}", "title": f"Passage {number}", "content": text}


def question(draw):
    """A text of a topic, without the hundred most frequent words."""
    return f"topic{draw.randrange(TOPICS)}x {' '.join(word(draw, 100) for _ in range(5))}"


def write(folder, passages, files, seed):
    """Writes the passages into as many files. The first hundredth of them is below `one`, the next nine below `ten`, the others below `rest`."""
    for file in range(files):
        share = file * 100 // files
        part = folder / ("one" if share == 0 else "ten" if share < 10 else "rest")
        part.mkdir(parents=True, exist_ok=True)
        draw = random.Random(f"{seed}.{file}")
        with open(part / f"part-{file:04}.jsonl", "w", encoding="utf-8") as out:
            for number in range(file * passages // files, (file + 1) * passages // files):
                out.write(json.dumps(passage(draw, number)) + "\n")


class Vectors:
    """The vector of a text: one of `NOISES` drawn variants of each part of its topic's centre."""

    def __init__(self, seed):
        draw, width = random.Random(seed), DIMENSIONS // PARTS
        gauss = lambda scale: [draw.gauss(0, scale) for _ in range(width)]
        scale = (DIMENSIONS * (1 + NOISE * NOISE)) ** -0.5
        self.parts = []
        for _ in range(TOPICS):
            centre = [gauss(scale) for _ in range(PARTS)]
            noisy = lambda part: array.array("f", [value + noise for value, noise in zip(part, gauss(scale * NOISE))]).tobytes()
            self.parts.append([[noisy(part) for _ in range(NOISES)] for part in centre])

    def of(self, text):
        """Little-endian floats, of about unit length."""
        found = re.search(r"topic(\d+)x", text, re.IGNORECASE)
        # A title names no topic.
        topic = int(found[1]) % TOPICS if found else zlib.crc32(text.encode()) % TOPICS
        drawn = hashlib.blake2b(text.encode(), digest_size=PARTS).digest()
        return b"".join(part[byte % NOISES] for part, byte in zip(self.parts[topic], drawn))


async def answer(vectors, reader, writer):
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            packed = body.get("encoding_format") == "base64"
            shown = lambda data: f'"{base64.b64encode(data).decode()}"' if packed else json.dumps(list(array.array("f", data)))
            data = ",".join(f'{{"index": {at}, "embedding": {shown(vectors.of(text))}}}' for at, text in enumerate(texts))
            reply = f'{{"data": [{data}], "usage": {{"prompt_tokens": {len(texts)}}}}}'
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply.encode()))
            await writer.drain()


def serve(seed, port, sender):
    async def run():
        vectors = Vectors(seed)
        server = await asyncio.start_server(lambda reader, writer: answer(vectors, reader, writer), "127.0.0.1", port, backlog=1024)
        sender.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def embedder(seed, port=0):
    """The port of an embedder in a process of its own, which ends with this one; any free port unless one is given."""
    receiver, sender = multiprocessing.Pipe(False)
    multiprocessing.Process(target=serve, args=(seed, port, sender), daemon=True).start()
    return receiver.recv()
