"""Forwards connections to a server that can change, as a proxy or a virtual address in front of a database does."""

import contextlib
import socket
import threading


class Switch:
    """Listens on a port of its own. A change closes all connections, so clients connect again."""

    def __init__(self, target, host="127.0.0.1"):
        self.target, self.lock, self.connections = target, threading.Lock(), set()
        self.socket = socket.create_server((host, 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.connect, args=[client], daemon=True).start()

    def connect(self, client):
        try:
            server = socket.create_connection(self.target, timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        with self.lock:
            self.connections |= {client, server}
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self.copy, args=[source, sink], daemon=True).start()

    def copy(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        self.close({source, sink})

    def close(self, connections):
        with self.lock:
            self.connections -= connections
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def to(self, target):
        self.target = target
        with self.lock:
            all_of_them = set(self.connections)
        self.close(all_of_them)
