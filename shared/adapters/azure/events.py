"""Events on an Event Grid topic."""

from azure.core.messaging import CloudEvent

from shared.adapters.azure.connections import TopicConnection
from shared.adapters.azure.errors import azure_errors
from shared.adapters.limits import check_event
from shared.domain.errors import NotFound, TryAgainLater
from shared.ports.events import Event


class EventGridEvents:
    """`source` says which installation speaks: a URI reference, the same in every event."""

    def __init__(self, topic: TopicConnection, *, source: str = "/postern") -> None:
        self._topic = topic
        self._source = source

    async def publish(self, event: Event) -> None:
        check_event(event)
        sent = CloudEvent(
            source=self._source,
            type=event.type,
            id=event.id,
            subject=event.subject,
            time=event.time,
            data=dict(event.data),
            datacontenttype="application/json",
        )
        try:
            with azure_errors(f"event {event.id!r}"):
                await self._topic.publisher.here().send(sent)
        except NotFound as exc:
            raise TryAgainLater(f"event {event.id!r} not taken: there is no such topic; check it") from exc


class NoEvents:
    """Where no topic is configured: nobody listens, so there is nothing to keep."""

    async def publish(self, event: Event) -> None:
        return
