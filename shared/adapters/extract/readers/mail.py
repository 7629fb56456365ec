"""Mail messages: headers, body, text attachments and forwarded messages; other attachments by name."""

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from shared.adapters.extract import refusal
from shared.adapters.extract.document import Document
from shared.adapters.extract.readers.html import visible_text
from shared.adapters.extract.readers.text import guess_text
from shared.adapters.extract.sink import TextSink

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_DEPTH = 8
_ENCRYPTED_TYPES = frozenset({"multipart/encrypted", "application/pgp-encrypted"})
_SMIME_TYPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})


def read_mail(document: Document, sink: TextSink) -> None:
    """Write the message."""
    with document.source.open("rb") as file:
        message = BytesParser(EmailMessage, policy=policy.default).parse(file)
    if _is_encrypted(message):
        raise refusal.encrypted("message")
    _write_message(message, sink, depth=0)
    if not sink.has_text:
        raise refusal.no_text("The message has no headers and no text.")


def _is_encrypted(message: EmailMessage) -> bool:
    content_type = message.get_content_type()
    is_smime = content_type in _SMIME_TYPES and message.get_param("smime-type") != "signed-data"
    return is_smime or content_type in _ENCRYPTED_TYPES


def _write_message(message: EmailMessage, sink: TextSink, *, depth: int) -> None:
    for name in _HEADERS:
        if value := _header(message, name):
            sink.write(f"{name}: {value}\n")
    body = message.get_body(("plain", "html"))
    if body is not None and isinstance(body, EmailMessage):
        sink.write(f"\n{_text_of(body).strip()}\n")
    for part in _attachments(message, body):
        _write_attachment(part, sink, depth=depth)


def _header(message: EmailMessage, name: str) -> str:
    """The header decoded; as it stands where the parser stumbles over it."""
    try:
        value = str(message.get(name, ""))
    except (ValueError, LookupError, AttributeError, TypeError):
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(value.split())


def _attachments(message: EmailMessage, body: object) -> Iterator[EmailMessage]:
    """Every leaf beside `body` and its alternatives."""
    if message.get_content_type() == "multipart/alternative" or not message.is_multipart():
        return
    for part in message.iter_parts():
        if part is body or not isinstance(part, EmailMessage):
            continue
        if part.get_content_maintype() == "multipart":
            yield from _attachments(part, body)
        else:
            yield part


def _write_attachment(part: EmailMessage, sink: TextSink, *, depth: int) -> None:
    content_type, name = part.get_content_type(), part.get_filename() or "without a name"
    sink.write(f"\n[Attachment: {' '.join(name.split())}, {content_type}]\n")
    if content_type == "message/rfc822" and depth < _MAX_DEPTH:
        for inner in part.iter_parts():
            if isinstance(inner, EmailMessage):
                _write_message(inner, sink, depth=depth + 1)
    elif part.get_content_maintype() == "text":
        sink.write(f"{_text_of(part).strip()}\n")


def _text_of(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or not payload:
        return ""
    text = guess_text(payload, str(part.get("Content-Type", ""))) or ""
    return visible_text(text) if part.get_content_subtype() == "html" else text
