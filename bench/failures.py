#!/usr/bin/env python3
"""Kills workers, servers and databases, cuts networks, fails over to a standby, slows the disk, and checks that nothing is lost.

    cargo build --release && python3 bench/failures.py --program target/release/pikerag --kills 50 --partition --failover --slow-disk

A deployment has a real PostgreSQL (crates/test-support/postgres/serve.py), servers and workers, each in a folder of its own.
This script plays the models: it counts each call, and knows which calls were under way at a failure (bench/cluster/models.py).

    --kills N      N rounds under load, in series of ten, each series over a new database. In each round a worker, a server or the
                   database is killed (SIGKILL; the database also by an immediate stop) and started again
    --partition    a worker and a server in a network namespace lose their network for `--seconds`, and get it again. Needs root
                   and `ip netns`; otherwise it is left out, and the script says so
    --failover     the database is killed under load, and its synchronous standby is promoted a second later. Its address stays,
                   as with a proxy. Measures the longest gap between two answers, and the errors that clients get
    --slow-disk    each flush of the database's log waits 100 ms longer (`commit_delay`), beside the usual disk

At the end of each part: the export is that of an undisturbed run of the same uploads; no call was paid again that was not under way
at a failure; no job is stuck, and each is done; no key paid more than its cap, and each was charged what it owes; no process
ended by itself. `--results FILE` keeps finished parts, and a later run leaves them out. Prints a line for each part, or JSON; the exit
code is 1 if there is any fault. Needs Linux.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

from cluster.deployment import BASE, Deployment
from cluster.models import Models
from cluster.postgres import Place
from cluster.switch import Switch

# The cap of a key that asks, in US dollars; a question costs about 0.0004.
CAP = 0.02
SERIES, DOCUMENTS, LONGEST = 10, 5, 300
NETWORK = "10.213.7"


class Load:
    """Clients that upload and ask until they are stopped. Each acknowledged document must be found at the end."""

    def __init__(self, deployment, models, numbers, askers=2, pace=0.05):
        self.deployment, self.models, self.numbers, self.pace = deployment, models, numbers, pace
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.stored, self.refused, self.statuses, self.answers, self.keys = [], [], {}, {"write": [], "read": []}, {}
        self.asker, self.questions, self.uploads = None, iter(range(10**9)), threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.upload, daemon=True)]
        self.threads += [threading.Thread(target=self.ask, daemon=True) for _ in range(askers)]
        for thread in self.threads:
            thread.start()

    def note(self, what, status):
        with self.lock:
            counts = self.statuses.setdefault(what, {})
            counts[str(status)] = counts.get(str(status), 0) + 1
            if status in (200, 202):
                self.answers["write" if what == "upload" else "read"].append(time.monotonic())

    def upload(self):
        """Uploads a document for each release of `uploads`."""
        while not self.stopped.is_set():
            if self.uploads.acquire(timeout=0.1):
                number = next(self.numbers)
                try:
                    self.deployment.put(number)
                except SystemExit as error:
                    # In a thread, it would end without a word.
                    self.refused.append(str(error))
                    continue
                with self.lock:
                    self.stored.append(number)
                self.note("upload", 200)

    def ask(self):
        while not self.stopped.is_set():
            time.sleep(self.pace)
            with self.lock:
                asker, number = self.asker, next(self.questions)
            if asker is None:
                self.make_key(number)
                continue
            question = {"question": f"What does crane n{number} of {asker[0]} lift?", "method": "naive-rag"}
            status, _ = self.deployment.get(f"{BASE}/ask", question, key=asker[1])
            self.note("ask", status)
            with self.lock:
                if status == 402 and self.asker == asker:
                    self.asker = None

    def make_key(self, number):
        status, body = self.deployment.get("/api/v1/keys", {"name": "a", "scope": "read", "cap_usd": CAP})
        if status in (200, 201):
            made = json.loads(body)
            with self.lock:
                self.asker = (f"asker{number}x", made["key"])
                self.keys[self.asker[0]] = made["id"]

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(LONGEST)


def calm(given, place, models, name, documents):
    """The export of an undisturbed run of the same uploads."""
    deployment = Deployment(given, place, name, models.url)
    try:
        for number in documents:
            deployment.put(number)
        assert deployment.idle(LONGEST) is not None, "an undisturbed run does not end"
        return deployment.export()
    finally:
        deployment.stop()


def checked(given, place, models, name, deployment, load):
    """The faults of a part, and its figures."""
    faults = {}
    jobs = deployment.idle(LONGEST)
    if jobs is None:
        faults["stuck jobs"] = [job["id"] for job in deployment.jobs() or [] if job["stand"] in ("waiting", "running")]
    for job in jobs or []:
        if job["stand"] != "done":
            faults[f"job {job['id']}"] = f"{job['stand']}: {job['reason']}"
    if ended := deployment.ended():
        faults["a process ended by itself"] = ended
    for number in load.stored:
        if not deployment.finds(number):
            faults[f"lost: document {number}"] = ""
    if load.refused:
        faults["nobody took"] = load.refused[:3]
    if twice := models.paid_twice():
        faults["paid twice"] = {call[-120:]: count for call, count in list(twice.items())[:5]}
    status, body = deployment.get("/api/v1/keys")
    lines = {line["id"]: line for line in json.loads(body)["keys"]} if status == 200 else {}
    with models.lock:
        owed = dict(models.owed)
    for asker, identifier in load.keys.items():
        line = lines.get(identifier, {"spent_usd": 0, "reserved_usd": 0})
        if CAP + 1e-9 < owed.get(asker, 0):
            faults[f"more than the cap: {asker}"] = owed[asker]
        if line["spent_usd"] + line["reserved_usd"] < owed.get(asker, 0) - 1e-9:
            faults[f"unbooked: {asker}"] = f"owes {owed[asker]}, charged {line['spent_usd'] + line['reserved_usd']}"
    found = deployment.export()
    # Of calls whose process was killed, and of those that nobody settled.
    reserved = round(sum(line["reserved_usd"] for line in lines.values()), 6)
    figures = {"reserved_usd": reserved, "documents": len(load.stored), "calls": sum(models.chats.values()), "keys": len(load.keys), "statuses": load.statuses, "pardoned": sum(models.pardoned.values())}
    deployment.stop()
    expected = calm(given, place, models, f"{name}-calm", load.stored)
    if expected != found:
        absent, added = [line.decode()[:200] for line in expected if line not in found], [line.decode()[:200] for line in found if line not in expected]
        faults["other export"] = {"absent": absent[:3], "added": added[:3]}
    return figures, faults


def begin(given, place, models, name, **more):
    models.reset()
    numbers = iter(range(1, 10**9))
    deployment = Deployment(given, place, name, models.url, **more)
    return deployment, Load(deployment, models, numbers)


def kills(given, place, models, series):
    name, draw = f"kills-{series}", random.Random(f"{given.seed}.{series}")
    deployment, load = begin(given, place, models, name)
    killed = {"worker": 0, "server": 0, "database": 0}
    for _ in range(min(SERIES, given.kills - series * SERIES)):
        load.uploads.release(DOCUMENTS)
        time.sleep(draw.uniform(0.1, given.longest))
        victim = draw.choice([kind for kind in killed if kind != "worker" or deployment.workers])
        killed[victim] += 1
        with models.disturbed():
            if victim == "database":
                draw.choice([deployment.database.kill, lambda: deployment.database.stop("immediate")])()
                time.sleep(draw.uniform(0, 2))
                deployment.database.start()
            else:
                running = deployment.workers if victim == "worker" else deployment.servers
                gone = draw.choice(running)
                gone.kill()
                time.sleep(draw.uniform(0, 0.5))
                start = deployment.add_worker if victim == "worker" else deployment.add_server
                start()
                running.remove(gone)
    time.sleep(1)
    load.stop()
    figures, faults = checked(given, place, models, name, deployment, load)
    return {"part": name, "killed": killed, **figures, "faults": faults}


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def cut():
    """Packets go to a wrong network card on either side: they are lost without an error, as in a broken switch."""
    ip("neigh", "replace", f"{NETWORK}.2", "lladdr", "02:00:00:00:00:01", "dev", "pikerag-out", "nud", "permanent")
    ip("-n", "pikerag-cut", "neigh", "replace", f"{NETWORK}.1", "lladdr", "02:00:00:00:00:01", "dev", "pikerag-in", "nud", "permanent")


def heal():
    ip("neigh", "del", f"{NETWORK}.2", "dev", "pikerag-out")
    ip("-n", "pikerag-cut", "neigh", "del", f"{NETWORK}.1", "dev", "pikerag-in")


def partition(given, place, models):
    """The worker and the server within the namespace reach database and models through a pair of network cards."""
    if os.geteuid() != 0 or not shutil.which("ip") or subprocess.run(["ip", "netns", "add", "pikerag-cut"], capture_output=True).returncode:
        print("note: LEFT OUT: the partition needs root and `ip netns`", file=sys.stderr)
        return None
    try:
        ip("link", "add", "pikerag-out", "type", "veth", "peer", "name", "pikerag-in", "netns", "pikerag-cut")
        ip("address", "add", f"{NETWORK}.1/24", "dev", "pikerag-out")
        ip("link", "set", "pikerag-out", "up")
        for words in (("address", "add", f"{NETWORK}.2/24", "dev", "pikerag-in"), ("link", "set", "pikerag-in", "up"), ("link", "set", "lo", "up")):
            ip("-n", "pikerag-cut", *words)
        outside = Models(given.delay, f"{NETWORK}.1", given.unstored)
        listens = {"listen_addresses": f"127.0.0.1,{NETWORK}.1"}
        address = lambda database: f"postgres://postgres@{NETWORK}.1:{database.port}/pikerag?base=main"
        deployment, load = begin(given, place, outside, "partition", address=address, database=listens)
        within = ("ip", "netns", "exec", "pikerag-cut")
        if given.workers:
            deployment.add_worker(within)
        # Clients do not reach this server; its background work goes on.
        cut_off = deployment.program().serve(deployment.address, within=within)
        load.uploads.release(DOCUMENTS * 4)
        time.sleep(1)
        with outside.disturbed():
            cut()
            time.sleep(given.seconds)
            heal()
            time.sleep(2)
        load.uploads.release(DOCUMENTS)
        time.sleep(2)
        load.stop()
        cut_off.stop()
        figures, faults = checked(given, place, outside, "partition", deployment, load)
        return {"part": "partition", "seconds": given.seconds, **figures, "faults": faults}
    finally:
        ip("netns", "del", "pikerag-cut")


def longest_gap(times, since):
    """The longest time without an answer, and the time until the first answer that follows `since`."""
    times = sorted(times)
    gaps = [after - before for before, after in zip(times, times[1:])]
    later = [at for at in times if since < at]
    return {"longest_gap_s": round(max(gaps, default=0), 2), "first_after_s": round(later[0] - since, 2) if later else None}


def failover(given, place, models):
    switches = []

    def address(database):
        switches.append(Switch((database.host, database.port)))
        return f"postgres://postgres@127.0.0.1:{switches[0].port}/pikerag?base=main"

    deployment, load = begin(given, place, models, "failover", address=address)
    standby = deployment.database.standby("failover_standby")

    def uploads():
        while not load.stopped.is_set():
            load.uploads.release()
            time.sleep(0.5)

    threading.Thread(target=uploads, daemon=True).start()
    time.sleep(given.longest + 2)
    with models.disturbed():
        moment = time.monotonic()
        deployment.database.kill()
        time.sleep(1)
        standby.promote()
        switches[0].to((standby.host, standby.port))
        promoted = time.monotonic() - moment
        time.sleep(5)
    time.sleep(5)
    load.stop()
    deployment.database = standby
    gaps = {kind: longest_gap(times, moment) for kind, times in load.answers.items()}
    figures, faults = checked(given, place, models, "failover", deployment, load)
    return {"part": "failover", "promoted_s": round(promoted, 2), **gaps, **figures, "faults": faults}


def slow_disk(given, place, models):
    """The same work with the usual and with a slow log, one after the other."""
    times = {}
    for name, delay in (("usual", 0), ("slow", 100_000)):
        deployment, load = begin(given, place, models, f"disk-{name}")
        # With no other transactions needed, each flush waits, at most 100 ms.
        deployment.database.query(f"ALTER SYSTEM SET commit_delay = {delay}")
        deployment.database.query("ALTER SYSTEM SET commit_siblings = 0")
        deployment.database.query("SELECT pg_reload_conf()")
        began = time.monotonic()
        load.uploads.release(DOCUMENTS * 4)
        while len(load.stored) + len(load.refused) < DOCUMENTS * 4:
            time.sleep(0.05)
        stored = time.monotonic() - began
        deployment.idle(LONGEST)
        times[name] = {"uploads_s": round(stored, 2), "indexed_s": round(time.monotonic() - began, 2), **longest_gap(load.answers["read"], began)}
        load.stop()
        if name == "usual":
            deployment.stop()
    figures, faults = checked(given, place, models, "slow-disk", deployment, load)
    return {"part": "slow-disk", **times, **figures, "faults": faults}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--kills", type=int, default=0, metavar="N", help="rounds, for example 50")
    arguments.add_argument("--partition", action="store_true")
    arguments.add_argument("--failover", action="store_true")
    arguments.add_argument("--slow-disk", action="store_true")
    arguments.add_argument("--servers", type=int, default=2)
    arguments.add_argument("--workers", type=int, default=3)
    arguments.add_argument("--worker", default="worker", help="the command of a worker")
    arguments.add_argument("--server-settings", default="", help="lines for `[server]`")
    arguments.add_argument("--one-folder", action="store_true", help="all processes share a folder, as versions before uploads in the database need")
    arguments.add_argument("--longest", type=float, default=4, help="seconds until a kill, at most")
    arguments.add_argument("--seconds", type=float, default=20, help="of the partition")
    arguments.add_argument("--delay", type=float, default=0.05, help="seconds of a chat reply")
    arguments.add_argument("--unstored", type=float, default=0.1, help="seconds after a reply in which a kill may lose it")
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--results", type=pathlib.Path, help="a file of finished parts")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    results = json.loads(given.results.read_text()) if given.results and given.results.exists() else {}
    parts = {f"kills-{series}": lambda *more, series=series: kills(*more, series) for series in range(-(-given.kills // SERIES))}
    parts |= {name: run for name, run, is_wanted in (("partition", partition, given.partition), ("failover", failover, given.failover), ("slow-disk", slow_disk, given.slow_disk)) if is_wanted}
    if not parts:
        arguments.error("name a part, for example --kills 50")
    for name, run in parts.items():
        if name not in results:
            with Place() as place:
                if (line := run(given, place, Models(given.delay, unstored=given.unstored))) is None:
                    continue
            results[name] = line
            print(f"{name}: {len(line['faults'])} faults, {line['documents']} documents, {line['calls']} calls", file=sys.stderr)
            if given.results:
                given.results.write_text(json.dumps(results, indent=1))
    if given.json:
        print(json.dumps(results, indent=1))
    else:
        for line in results.values():
            print("; ".join(f"{name}: {value}" for name, value in line.items()))
    return 1 if any(line["faults"] for line in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
