"""Runs the program: single commands, servers and workers, with nothing of the machine's own settings."""

import atexit
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")


class Program:
    """The program in a folder with settings of its own."""

    def __init__(self, program, folder, settings=""):
        self.program, self.folder = str(pathlib.Path(program).resolve()), pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "pikerag.toml").write_text(settings, encoding="utf-8")

    def variables(self):
        own = {"HOME": self.folder, "XDG_STATE_HOME": self.folder / "state", "PIKERAG_CONFIG": self.folder / "pikerag.toml"}
        return {"PATH": os.environ["PATH"], "PIKERAG_LANG": "en", **{name: str(path) for name, path in own.items()}}

    def run(self, base, *words, binary=False):
        """The output of a command over a base."""
        command = [self.program, "--base", str(base), *map(str, words)]
        ran = subprocess.run(command, cwd=self.folder, env=self.variables(), capture_output=True, check=False)
        if ran.returncode:
            raise SystemExit(f"pikerag {' '.join(map(str, words))}: exit code {ran.returncode}\n{ran.stderr.decode(errors='replace')[-2000:]}")
        return ran.stdout if binary else ran.stdout.decode()

    def export(self, base):
        return self.run(base, "export", binary=True)

    def start(self, base, *words, within=()):
        """A running command over a base, such as `worker` or `serve`; `within` is a command that starts it elsewhere."""
        return Running([*within, self.program, "--base", str(base), *map(str, words)], self.folder, self.variables())

    def serve(self, base, host="127.0.0.1", port=0, within=()):
        """A server, which is ready for requests."""
        server = self.start(base, "serve", "--host", host, "--port", port, within=within)
        line = server.process.stdout.readline()
        found = re.search(r"http://[^\s;]+:\d+", line)
        if not found:
            raise SystemExit(f"the server did not start: {line!r}\n{server.errors()}")
        server.url = found.group()
        return server


@atexit.register
def end_all():
    """No process outlives the benchmark, also if that fails."""
    for process in Running.started:
        if process.poll() is None:
            process.kill()


class Running:
    """A process of the program. Its messages are in a file."""

    numbers, started = iter(range(1, 10**9)), []

    def __init__(self, command, folder, variables):
        self.command, self.folder, self.variables, self.url = command, folder, variables, None
        self.log = folder / f"process-{next(self.numbers)}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.started.append(self.process)

    def errors(self):
        return self.log.read_text(errors="replace")[-2000:]

    def processor_seconds(self):
        """Seconds of processor time so far, with those of children that ended."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")")[1].split()
        return sum(int(ticks) for ticks in stat[11:15]) / TICKS

    def memory_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) >> 10

    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self, seconds=60):
        self.end(signal.SIGTERM, seconds)

    def end(self, how, seconds=60):
        if self.is_running():
            self.process.send_signal(how)
        self.process.wait(seconds)
        self.process.stdout.close()

    def get(self, path, body=None, method=None, key=None, timeout=60, kind="application/json"):
        """Status and bytes of a request; status 0 if no response came."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        head = {"Content-Type": kind} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(self.url + path, data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (OSError, ValueError, http.client.HTTPException) as error:
            return 0, repr(error).encode()

    def wait(self, is_done, seconds, what):
        """Waits until `is_done()`; ends the benchmark if that takes too long."""
        until = time.monotonic() + seconds
        while not is_done():
            if until < time.monotonic():
                raise SystemExit(f"{what} took more than {seconds} s\n{self.errors()}")
            time.sleep(0.1)
