"""Logs are events with fields; most handlers show only the event. This puts the fields behind it."""

import logging
from typing import Final

OURS: Final = "shared"
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# They write a line for every request, with addresses that may carry signatures.
_CHATTY: Final = ("httpx2", "httpcore2", "durabletask")


class WithFields(logging.Filter):
    """Lets everything through. An event of ours is followed by its fields, as `name=value`."""

    def filter(self, record: logging.LogRecord) -> bool:
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if fields and record.name.split(".", 1)[0] == OURS:
            shown = " ".join(f"{name}={value}" for name, value in fields.items())
            record.msg = f"{record.getMessage()} {shown}"
            record.args = ()
            # Other handlers see the same record: the fields are in its text now.
            for name in fields:
                delattr(record, name)
        return True


def show_fields() -> None:
    """On every handler there is. Calling it again changes nothing."""
    for handler in logging.getLogger().handlers:
        if not any(isinstance(known, WithFields) for known in handler.filters):
            handler.addFilter(WithFields())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
