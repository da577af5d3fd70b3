"""How bodies are decoded: by their types, to the letter, and a refusal names the field and the value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from litestar.connection import ASGIConnection
from litestar.dto import AbstractDTO
from litestar.typing import FieldDefinition

from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.service.http.bodies import IN_WORDS

if TYPE_CHECKING:
    from litestar._openapi.schema_generation import SchemaCreator
    from litestar.dto.data_structures import DTOFieldDefinition
    from litestar.openapi.spec import Reference, Schema

PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?$", re.DOTALL)
STEP = re.compile(r"\.([A-Za-z_]+)|\[(\d+)\]")
AS_JSON, BYTES = "application/json", "application/octet-stream"
LONGEST = 80  # letters of a value in a refusal


class StrictBody(AbstractDTO[Any]):
    """Reads a body as the type of its handler says: "1" is not a number, and nothing is converted."""

    _decoders: ClassVar[dict[str, msgspec.json.Decoder[Any]]] = {}

    def decode_bytes(self, value: bytes) -> Any:
        """The body."""
        check_type(self.asgi_connection, AS_JSON)
        return decode(value, self._decoders[self.asgi_connection.route_handler.handler_id])

    @classmethod
    def create_for_field_definition(cls, field_definition: FieldDefinition, handler_id: str, *_: Any) -> None:
        """Make ready for a handler."""
        cls._decoders[handler_id] = msgspec.json.Decoder(field_definition.annotation)

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: SchemaCreator
    ) -> Reference | Schema:
        """What the document says of the body."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        """None: the whole is read at once."""
        return iter(())

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """None is."""
        return False


def check_type(connection: ASGIConnection[Any, Any, Any, Any], wanted: str, or_none: bool = False) -> None:
    """Decline a body that says to be something else: what a page from elsewhere can send without asking is no JSON."""
    given = next((value for name, value in connection.scope["headers"] if name == b"content-type"), b"")
    if given.partition(b";")[0].strip().lower() != wanted.encode() and not (or_none and not given):
        shown = given[:LONGEST].decode("latin-1")
        raise Declined(415, f"content-type: {shown!r} given, expected {wanted!r}")


def _check_pairs(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise Refused(f"body: {twice[:LONGEST]!r} is given twice")


# Made once, for all bodies. Numbers are only looked over: a long one takes long to be made.
KEYS = json.JSONDecoder(object_pairs_hook=_check_pairs, parse_int=str, parse_float=str)


def check_keys(body: bytes) -> None:
    """Refuse JSON that says something twice, of which one reader would take the first and another the last.

    >>> check_keys(b'{"a": {"b": 1, "b": 2}}')
    Traceback (most recent call last):
    paretozoom.records.Refused: body: 'b' is given twice
    """

    KEYS.decode(body.decode())


def decode(body: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """What a body says.

    >>> decode(b'{"a": [1, "2"]}', msgspec.json.Decoder(dict[str, list[int]]))
    Traceback (most recent call last):
    paretozoom.records.Refused: body: {'a': [1, '2']}: expected `int`, got `str`
    """
    try:
        found = decoder.decode(body)
        check_keys(body)
        return found
    except msgspec.ValidationError as error:
        raise Refused(_explained(body, str(error))) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise Refused(f"body: {body[:LONGEST]!r} is not JSON ({error})") from error
    except RecursionError as error:
        raise Refused(f"body: {body[:LONGEST]!r} is nested too deeply") from error


def _explained(body: bytes, message: str) -> str:
    """The field, its value and what was expected."""
    found = PLACE.match(in_words(message))
    what, path = (found["what"], found["path"] or "") if found else (message, "")
    steps = list(_steps(path))
    field = path[: steps[-1].end()].lstrip(".") if steps else "body"
    if not what.startswith("Expected"):  # one of our own, or an object as a whole
        return f"{field}: {what}"
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):  # there is more that is wrong with it
        return f"{field}: e{what[1:]}"
    for step in steps:
        value = value[step[1] if step[1] else int(step[2])]
    shown = repr(value)
    return f"{field}: {shown if len(shown) <= LONGEST else shown[:LONGEST] + '...'}: e{what[1:]}"


def in_words(message: str) -> str:
    """A message with words where the library that checks has a regular expression.

    >>> from paretozoom.service.http.bodies import REQUEST
    >>> in_words(f"Expected `str` matching regex {REQUEST!r} - at `$.request_id`")
    'Expected a text without the character 0 - at `$.request_id`'
    """
    for pattern, words in IN_WORDS.items():
        message = message.replace(f"`str` matching regex {pattern!r}", words)
    return message


def _steps(path: str) -> Iterator[re.Match[str]]:
    """The fields and places of a path, as far as they are said: in a dictionary they are not."""
    at = 0
    while step := STEP.match(path, at):
        yield step
        at = step.end()
