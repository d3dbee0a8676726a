"""Frozen values that know their JSON: canonical text, a hash of the content, and a strict reader.

Only the standard library, so that reading a configuration needs nothing else.
"""

import dataclasses
import functools
import hashlib
import json
import math
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, Self

from nalm.errors import NALMError, unknown


class Value:
    """The base of every configuration value: JSON, a hash, and ``replace`` for ablations."""

    def __post_init__(self) -> None:
        """Convert every field to its declared type, so that equal values have equal JSON; then check it."""
        for name, kind, fits in _fields(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if not fits(value):  # most do, and there are thousands
                object.__setattr__(self, name, _typed(kind, value, f"{type(self).__name__}.{name}"))
        self.check()

    def check(self) -> None:
        """Raise a NALMError if the fields do not go together."""

    def plain(self) -> dict[str, Any]:
        """Return the fields as plain data for JSON, without those added later that have their default."""
        fields = [(f, getattr(self, f.name)) for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {
            f.name: _inside(v, lambda value: value.plain())
            for f, v in fields
            if not (f.metadata.get("added_later") and v == f.default)
        }

    def changed(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults."""
        fields = [(f, getattr(self, f.name)) for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {f.name: v for f, v in fields if v != _default(f)}

    def brief(self) -> dict[str, Any]:
        """Return the plain data without any field that has its default, which ``read`` takes as well.

        The hash counts every field: with other defaults, what was written so is read as another value.
        """
        return {name: _inside(v, lambda value: value.brief()) for name, v in self.changed().items()}

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Build the value from plain data, checking every name and type; ``where`` names the place in errors."""
        if not isinstance(data, dict):
            raise NALMError(f"{where} must be an object, got {type(data).__name__}.")
        hints = _hints(cls)  # type: ignore[arg-type]
        fields = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name in data:
            if name not in fields:
                raise unknown(f"field of {cls.__name__}", name, sorted(fields))
        try:
            return cls(**{name: _read(hints[name], v, f"{where}.{name}") for name, v in data.items()})
        except TypeError as error:
            raise NALMError(f"{where} is incomplete: {error}.") from None

    def json(self) -> str:
        """Return canonical JSON: keys sorted, no spaces, the same text for equal values."""
        return json.dumps(self.plain(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON: the identity of this value."""
        return hashlib.sha256(self.json().encode()).hexdigest()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text that ``json`` wrote; refuse anything else."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NALMError(f"This is not the JSON of a {cls.__name__}: {error}.") from None
        return cls.read(data, cls.__name__)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; a field that does not exist is an error."""
        names = [f.name for f in dataclasses.fields(self)]  # type: ignore[arg-type]
        for name in changes:
            if name not in names:
                raise unknown(f"field of {type(self).__name__}", name, names)
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


@functools.lru_cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@functools.lru_cache
def _fields(kind: type) -> list[tuple[str, Any, Callable[[Any], bool]]]:
    """Return every field with its type and a quick test: True if a value certainly has that type."""
    hints = _hints(kind)
    return [(f.name, hints[f.name], _test(hints[f.name])) for f in dataclasses.fields(kind)]


def _test(kind: Any) -> Callable[[Any], bool]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is float:
        return _finite
    if isinstance(kind, type) and origin is None:
        return lambda value: type(value) is kind
    if origin is Literal:
        return lambda value: type(value) is str and value in arguments
    if origin is tuple and arguments[-1] is Ellipsis:
        each = _test(arguments[0])
        return lambda value: type(value) is tuple and all(map(each, value))
    if origin in (types.UnionType, typing.Union):  # every union here is a type or None
        some = _test(arguments[0])
        return lambda value: value is None or some(value)
    return lambda value: False


def _finite(value: Any) -> bool:
    return type(value) is float and value - value == 0 and (value != 0 or math.copysign(1, value) > 0)


def added_later(default: Any) -> Any:
    """Declare a field that is omitted from JSON at its default, so that hashes of older cases do not change."""
    return dataclasses.field(default=default, metadata={"added_later": True})


def _inside(value: Any, of: Callable[["Value"], dict[str, Any]]) -> Any:
    """Return plain data for a field: values by a function, tuples as lists."""
    if isinstance(value, Value):
        return of(value)
    if isinstance(value, tuple):
        return [_inside(v, of) for v in value]
    return value


def _default(field: dataclasses.Field[Any]) -> Any:
    """Return the default of a field; of one that has none, what equals no value."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _read(kind: Any, data: Any, where: str) -> Any:
    """Build a value of a type from plain data, checking every name and type on the way."""
    if isinstance(kind, type) and issubclass(kind, Value):
        return kind.read(data, where)
    if typing.get_origin(kind) is tuple and isinstance(data, list):
        arguments = typing.get_args(kind)
        kinds = [arguments[0]] * len(data) if arguments[-1] is Ellipsis else list(arguments)
        if len(kinds) != len(data):
            raise NALMError(f"{where} must have {len(kinds)} entries, got {len(data)}.")
        return tuple(_read(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, data, strict=True)))
    if typing.get_origin(kind) in (types.UnionType, typing.Union) and data is not None:
        return _read(typing.get_args(kind)[0], data, where)  # every union here is a type or None
    return data


def _typed(kind: Any, value: Any, where: str) -> Any:
    """Convert a value to its declared type: whole numbers to floats, lists to tuples; refuse anything else."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if not isinstance(value, tuple | list | range):
            raise NALMError(f"{where} must be a list, got {value!r}.")
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(kinds) != len(value):
            raise NALMError(f"{where} must have {len(kinds)} entries, got {len(value)}.")
        return tuple(_typed(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True)))
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _typed(arguments[0], value, where)
    if origin is Literal:
        if value not in arguments:
            raise unknown(f"choice for {where}", value, map(str, arguments))
        return value
    if kind is Any:
        return _simple(value, where)
    if kind is float:
        return _number(value, where)
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise NALMError(f"{where} must be {kind.__name__}, got {value!r}.")


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NALMError(f"{where} must be a number, got {value!r}.")
    try:
        number = float(value) + 0.0  # minus zero becomes zero
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise NALMError(f"{where} must be a finite number, got {number!r}.")
    return number


def _simple(value: Any, where: str, depth: int = 0) -> Any:
    """Check an option: text, a number, a truth value, or a short nest of tuples of these."""
    if isinstance(value, list | tuple) and depth < 4:
        return tuple(_simple(v, where, depth + 1) for v in value)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return _number(value, where)
    raise NALMError(f"{where} must be a plain value, got {type(value).__name__}.")


def require(holds: bool, message: str) -> None:
    """Raise the message unless the condition holds."""
    if not holds:
        raise NALMError(message)
