"""Reads JSON into the dataclasses of `types`. Unknown fields are kept in `raw`; missing optional ones take their default."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from . import types
from .errors import ReplyError

R = TypeVar("R", bound=types.Reply)

# By field: whether it is required, and the reader of its value.
Fields = dict[str, tuple[bool, Callable[[Any], Any]]]
_KNOWN: dict[type[types.Reply], Fields] = {}


def read(kind: type[R], value: object) -> R:
    """`value` as `kind`. Raises `ReplyError` if it is no object, or a required field is missing."""
    if not isinstance(value, dict):
        raise ReplyError(f"the server sent {type(value).__name__} where {kind.__name__} was expected")
    given: dict[str, Any] = {"raw": value}
    for name, (is_required, convert) in _fields(kind).items():
        if value.get(name) is not None:
            given[name] = convert(value[name])
        elif is_required:
            raise ReplyError(f"the server sent {kind.__name__} without `{name}`")
    return kind(**given)


def read_all(kind: type[R], value: object) -> list[R]:
    if not isinstance(value, list):
        raise ReplyError(f"the server sent {type(value).__name__} where a list of {kind.__name__} was expected")
    return [read(kind, item) for item in value]


def _fields(kind: type[types.Reply]) -> Fields:
    if kind in _KNOWN:
        return _KNOWN[kind]
    hints = typing.get_type_hints(kind)
    found: Fields = {}
    for field in dataclasses.fields(kind):
        if field.name != "raw":
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            found[field.name] = (not has_default, _converter(hints[field.name]))
    _KNOWN[kind] = found
    return found


def _converter(hint: Any) -> Callable[[Any], Any]:
    arguments = [argument for argument in typing.get_args(hint) if argument is not type(None)]
    if typing.get_origin(hint) is typing.Union:
        return _converter(arguments[0])
    if typing.get_origin(hint) is list and isinstance(arguments[0], type) and issubclass(arguments[0], types.Reply):
        return functools.partial(read_all, arguments[0])
    if isinstance(hint, type) and issubclass(hint, types.Reply):
        return functools.partial(read, hint)
    return lambda value: value
