"""Runs real PostgreSQL servers: start, kill, copy, standby, promotion, archive, dump and restore.

The programs come from the package of crates/test-support/postgres/serve.py. Each server has a folder of its own below a
`Place`, which every account may enter, because PostgreSQL refuses to run as root: root runs it as `nobody`.
"""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SERVE = pathlib.Path(__file__).resolve().parent.parent.parent / "crates/test-support/postgres/serve.py"
# As after `initdb`, but with the memory of a small machine. `fsync` stays on: kills and sizes shall be real.
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "maintenance_work_mem": "512MB", "max_connections": "300"}
# Seconds that a server may take to start: after a kill it first reads its log again.
LONGEST_START = 120
# Seconds for one program of PostgreSQL: a statement that waits for a standby that is gone would wait forever.
LONGEST_COMMAND = 1800


def children(process):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


class Failed(Exception):
    """A program of PostgreSQL ended with an error."""


def package():
    """The folder with the package, which is fetched once."""
    spec = importlib.util.spec_from_file_location("serve", SERVE)
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pikerag/postgres"
    serve.prepare(cache)
    return cache / "package", serve.PROGRAMS


def free_port(host="127.0.0.1"):
    with socket.socket() as free:
        free.bind((host, 0))
        return free.getsockname()[1]


class Place:
    """A folder for servers and their data, removed at the end with all servers in it."""

    def __init__(self, folder=None):
        self.is_own = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="pikerag-cluster-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        source, programs = package()
        if not (self.folder / "package" / programs / "postgres").exists():
            shutil.copytree(source, self.folder / "package", symlinks=True, dirs_exist_ok=True)
        self.programs = self.folder / "package" / programs
        self.servers = []
        # Servers end with the benchmark, also when it is terminated.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def account(self):
        return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}

    def own_folder(self, name):
        """A folder that the account of the servers may write to."""
        folder = self.folder / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody", "nogroup")
        return folder

    def run(self, program, *arguments, stdin=None):
        """Runs a program of PostgreSQL; its output."""
        command = [str(self.programs / program), *map(str, arguments)]
        environment = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
        ran = subprocess.run(command, cwd="/", env=environment, input=stdin, capture_output=True, text=True, check=False, timeout=LONGEST_COMMAND, **self.account())
        if ran.returncode:
            raise Failed(f"{program}: exit code {ran.returncode}: {ran.stderr.strip() or ran.stdout.strip()}")
        return ran.stdout

    def server(self, name, **settings):
        """A new, empty server, which is not started yet."""
        server = Server(self, name, settings)
        self.run("initdb", "-D", server.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions")
        # Also for network namespaces of this machine.
        with open(server.data / "pg_hba.conf", "a", encoding="utf-8") as access:
            access.write("host all all samenet trust\n")
        return server

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop("immediate")
        if self.is_own:
            shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A server of PostgreSQL. Its port stays the same, also after a restart."""

    def __init__(self, place, name, settings, host="127.0.0.1"):
        self.place, self.name, self.host, self.port = place, name, host, free_port()
        self.settings = {**SETTINGS, **settings}
        self.data = place.own_folder(name)
        place.servers.append(self)

    def address(self, base=None, database="postgres"):
        parameters = f"?base={base}" if base else ""
        return f"postgres://postgres@{self.host}:{self.port}/{database}{parameters}"

    def start(self):
        values = {"listen_addresses": self.host, **self.settings, "port": self.port, "unix_socket_directories": self.data}
        command = [str(self.place.programs / "postgres"), "-D", str(self.data)]
        for name, value in values.items():
            command += ["-c", f"{name}={value}"]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        with open(self.data / "server.log", "ab") as log:
            self.process = subprocess.Popen(command, cwd="/", env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self.place.account())
        self.wait()
        return self

    def wait(self):
        """Waits until it accepts connections."""
        until = time.monotonic() + LONGEST_START
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise Failed(f"{self.name} ended at its start:\n{self.log()[-2000:]}")
            try:
                self.query("SELECT 1")
                return
            except Failed:
                time.sleep(0.1)
        raise Failed(f"{self.name} does not start:\n{self.log()[-2000:]}")

    def log(self):
        return (self.data / "server.log").read_text(errors="replace")

    def is_running(self):
        return getattr(self, "process", None) is not None and self.process.poll() is None

    def stop(self, mode="fast"):
        """`fast` ends connections and writes a checkpoint; `immediate` does not, and the next start repairs the data."""
        if self.is_running():
            self.process.send_signal(signal.SIGINT if mode == "fast" else signal.SIGQUIT)
            self.process.wait(LONGEST_START)

    def kill(self):
        """Kills all its processes at once, as a loss of power does, except that the disk keeps what was written."""
        if self.is_running():
            # Each process of the server has a session of its own, so they are no group.
            for process in [self.process.pid, *children(self.process.pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.process.wait()

    def query(self, sql, database="postgres"):
        """The rows of a statement, each a list of texts."""
        out = self.place.run("psql", "-h", self.host, "-p", self.port, "-U", "postgres", "-d", database, "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql)
        return [line.split("\t") for line in out.splitlines()]

    def one(self, sql, database="postgres"):
        return self.query(sql, database)[0][0]

    def create(self, database):
        """A database with pgvector."""
        self.query(f"CREATE DATABASE {database} ENCODING 'UTF8' TEMPLATE template0")
        self.query("CREATE EXTENSION IF NOT EXISTS vector", database)

    def copy(self, name, **settings):
        """A physical copy of it (`pg_basebackup`), which is not started yet."""
        other = Server(self.place, name, {**self.settings, **settings})
        self.place.run("pg_basebackup", "-h", self.host, "-p", self.port, "-U", "postgres", "-D", other.data, "-X", "stream", "-c", "fast")
        return other

    def standby(self, name):
        """A running standby, which follows this server. A commit here waits until the standby has it."""
        source = f"host={self.host} port={self.port} user=postgres application_name={name}"
        other = self.copy(name, primary_conninfo=source, hot_standby="on")
        (other.data / "standby.signal").touch()
        other.start()
        self.query(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self.query("SELECT pg_reload_conf()")
        until = time.monotonic() + 30
        while self.query(f"SELECT sync_state FROM pg_stat_replication WHERE application_name = '{name}'") != [["sync"]]:
            if until < time.monotonic():
                raise Failed(f"{name} does not follow {self.name}:\n{other.log()[-2000:]}")
            time.sleep(0.1)
        return other

    def promote(self):
        """Makes a standby the server that takes writes."""
        self.query("SELECT pg_promote(true, 60)")
        # It must not wait for a standby of its own.
        self.query("ALTER SYSTEM RESET synchronous_standby_names")
        self.query("SELECT pg_reload_conf()")

    def dump(self, file, database="postgres"):
        self.place.run("pg_dump", "-h", self.host, "-p", self.port, "-U", "postgres", "-d", database, "-Fc", "-f", file)

    def restore(self, file, database="postgres"):
        self.place.run("pg_restore", "-h", self.host, "-p", self.port, "-U", "postgres", "-d", database, "--exit-on-error", file)

    def processor_seconds(self):
        """Seconds of processor time of all its processes, also of those that ended."""
        total = 0
        for process in [self.process.pid, *children(self.process.pid)]:
            with contextlib.suppress(FileNotFoundError):
                stat = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()
                own = stat[11:15] if process == self.process.pid else stat[11:13]
                total += sum(map(int, own))
        return total / os.sysconf("SC_CLK_TCK")

    def bytes(self, database="postgres"):
        return int(self.one(f"SELECT pg_database_size('{database}')"))
