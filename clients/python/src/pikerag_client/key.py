"""Holds an access key that no message, log or traceback prints."""

from __future__ import annotations


class Key:
    """The secret of a key from `pikerag keys make`. `reveal()` returns it; nothing else does.

    Spaces and ends of lines around it are left out, as in a file. Raises `ValueError` if no header can contain it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        secret = secret.strip()
        # The error of the HTTP library would show the key.
        if not (secret.isascii() and secret.isprintable()):
            raise ValueError("key: it contains characters that no key has")
        self._secret = secret

    def reveal(self) -> str:
        return self._secret

    def __repr__(self) -> str:
        return "Key(**********)"

    __str__ = __repr__

    def __format__(self, _spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    def __bool__(self) -> bool:
        return bool(self._secret)

    def __reduce__(self) -> str:
        raise TypeError("a Key is not serialized, because its secret would be readable")
