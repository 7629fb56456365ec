"""Mail messages, made by the standard library."""

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP


def mail(
    *,
    subject: str,
    text: str | None = None,
    html: str | None = None,
    attachments: Sequence[tuple[str, str, bytes]] = (),
    forwarded: bytes | None = None,
    sender: str = "Ana Müller <ana@contoso.example>",
) -> bytes:
    """A message to Ben, the same bytes every time; `attachments` are name, content type and content."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = "ben@contoso.example"
    message["Subject"] = subject
    message["Message-ID"] = "<1@contoso.example>"
    if text is not None:
        message.set_content(text)
    if html is not None and text is not None:
        message.add_alternative(html, subtype="html")
    elif html is not None:
        message.set_content(html, subtype="html")
    for name, content_type, content in attachments:
        maintype, _, subtype = content_type.partition("/")
        message.add_attachment(content, maintype=maintype, subtype=subtype, filename=name)
    if forwarded is not None:
        inner = EmailMessage(policy=SMTP)
        inner["Subject"] = "the forwarded one"
        inner.set_content(forwarded.decode())
        message.add_attachment(inner)
    for number, part in enumerate(each for each in message.walk() if each.is_multipart()):
        if part.get_content_maintype() == "multipart":
            part.set_boundary(f"=-=part-{number}=-=")
    return message.as_bytes()
