"""Runs servers and workers of the program over one database, each in a folder of its own, as on machines of their own."""

import itertools
import json
import random
import time

from . import models
from .program import Program

BASE = "/api/v1/bases/default"
OVER = ("done", "offered", "set_aside", "incomplete", "failed")


def word(number):
    """A word of six syllables that belongs to this number only."""
    text = ""
    for _ in range(6):
        text += "bdfgklmnprtvwzjh"[number % 16] + "aiou"[number // 16 % 4]
        number //= 64
    return "q" + text + "x"


def document(number):
    """The name and the text of a document with two passages."""
    crane = word(number)
    text = f"# Note {number}\n\nThe crane {crane} lifts {number} tons.\n\n## Repair {number}\n\nThe hook of crane {crane}y was replaced in {1900 + number % 100}.\n"
    return f"d{number % 40}/f{number}.md", text.encode()


class Deployment:
    """Servers and workers. `address` makes the address that they use from the database; by default it is the database's own."""

    def __init__(self, given, place, name, models_url, address=None, database=None):
        self.given, self.place, self.name, self.numbers = given, place, name, itertools.count()
        self.database = place.server(f"{name}-database", **(database or {})).start()
        self.database.create("pikerag")
        self.address = address(self.database) if address else self.database.address("main", "pikerag")
        keys = self.address.split("?")[0]
        self.settings = models.SETTINGS.format(url=models_url) + f'[server]\nkeys = "{keys}"\n{given.server_settings}\n'
        made = self.program().run(self.address, "--json", "keys", "make", "admin", "--scope", "admin")
        self.admin = json.loads(made)["key"]
        self.servers, self.workers = [], []
        for _ in range(given.servers):
            self.add_server()
        for _ in range(given.workers):
            self.add_worker()

    def program(self):
        """The program in a new folder, or in the one that all share."""
        folder = self.name if self.given.one_folder else f"{self.name}-{next(self.numbers)}"
        return Program(self.given.program, self.place.folder / folder, self.settings)

    def add_server(self):
        self.servers.append(self.program().serve(self.address))

    def add_worker(self, within=()):
        self.workers.append(self.program().start(self.address, *self.given.worker.split(), within=within))

    def get(self, path, body=None, method=None, key=None, kind="application/json", timeout=60):
        """Sends a request to any server, once."""
        return random.choice(self.servers).get(path, body, method, key or self.admin, timeout, kind)

    def put(self, number, seconds=180):
        """Uploads a document until a server acknowledges it."""
        name, text = document(number)
        until = time.monotonic() + seconds
        while True:
            status, body = self.get(f"{BASE}/files/{name}", text, "PUT", kind="text/markdown")
            if status in (200, 202):
                return name
            if until < time.monotonic():
                raise SystemExit(f"nobody takes {name}: {status} {body[:500]}")
            time.sleep(0.2)

    def jobs(self):
        status, body = self.get(f"{BASE}/jobs")
        return json.loads(body) if status == 200 else None

    def idle(self, seconds):
        """The jobs, once all are over; `None` for jobs that are stuck."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            jobs = self.jobs()
            if jobs is not None and all(job["stand"] in OVER for job in jobs):
                return jobs
            time.sleep(0.2)
        return None

    def finds(self, number):
        status, body = self.get(f"{BASE}/search", {"query": word(number), "by": "words", "k": 3})
        return status == 200 and word(number).encode() in body

    def export(self):
        """The lines of the graph, without their order."""
        return sorted(self.program().export(self.address).splitlines())

    def ended(self):
        """Messages of processes that ended by themselves."""
        return [running.errors() for running in [*self.servers, *self.workers] if not running.is_running()]

    def stop(self):
        for running in [*self.servers, *self.workers]:
            running.stop()
        self.database.stop()
