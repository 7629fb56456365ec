"""Lines that carry whole bodies, bare or in OpenAI's batch format."""

from collections.abc import Mapping
from typing import Final

from shared.domain.catalog import Endpoint
from shared.wire.door_bodies import check_body, guess_endpoint
from shared.wire.door_expected import Expected
from shared.wire.door_faults import MISSING, WRONG_MODEL, WRONG_URL, BadField, kind_of, refuse_unknown
from shared.wire.problems import short

_KNOWN: Final = frozenset({"custom_id", "method", "url", "body"})
_HINT: Final = "a request has custom_id and body, and in OpenAI's batch format method and url"

# OpenAI's paths, with and without the prefixes that Azure's samples add or leave out.
_ENDPOINT_OF_URL: Final[Mapping[object, Endpoint]] = {
    prefix + endpoint.url.removeprefix("/v1"): endpoint
    for endpoint in Endpoint
    for prefix in ("/v1", "", "/openai/v1", "/openai")
}
_URLS: Final = ", ".join(endpoint.url for endpoint in Endpoint)


class RequestReader:
    """Turns entries into effective bodies. The first one decides the endpoint if the job does not."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._endpoint = expected.endpoint
        self._decided_on: int | None = None
        self._shaper = None if expected.endpoint is None else expected.shaper(expected.endpoint)

    @property
    def endpoint(self) -> Endpoint | None:
        return self._endpoint

    def check_entry(self, entry: dict[str, object]) -> None:
        """What must be right before the id is looked at."""
        refuse_unknown(entry, _KNOWN, _HINT)
        if self._expected.openai_format:
            for name in ("custom_id", "method", "url"):
                if name not in entry:
                    raise BadField(name, "is missing", code=MISSING)

    def read(self, entry: dict[str, object], line: int) -> dict[str, object]:
        """The effective body, without the model."""
        if "method" in entry and entry["method"] != "POST":
            raise BadField("method", 'must be "POST"')
        asked = _endpoint_of(entry["url"]) if "url" in entry else None
        body = _body(entry)
        self._check_model(body)
        endpoint = self._settled(asked, body, line)
        check_body(endpoint, body)
        shaped = self._shape(endpoint, body)
        if self._expected.objection and (objection := self._expected.objection(endpoint, shaped)):
            raise BadField(f"body.{objection.field}", objection.message)
        return shaped

    def _check_model(self, body: dict[str, object]) -> None:
        alias = self._expected.alias
        if "model" not in body:
            if self._expected.openai_format:
                raise BadField("body.model", "is missing")
            return
        model = body["model"]
        if not isinstance(model, str):
            raise BadField("body.model", f"must be a string, not {kind_of(model)}")
        if model != alias:
            raise BadField(
                "body.model",
                f"is {short(model)}, but the job's alias is {short(alias)}; leave it out or use that",
                code=WRONG_MODEL,
            )

    def _settled(self, asked: Endpoint | None, body: dict[str, object], line: int) -> Endpoint:
        if self._endpoint is None:
            found = asked or guess_endpoint(body, input_means=self._expected.input_means)
            if found is None:
                raise BadField("body", "has neither messages nor input, so it is no request of any endpoint")
            self._endpoint, self._decided_on = found, line
        elif asked is not None and asked is not self._endpoint:
            other = f"line {self._decided_on}" if self._decided_on is not None else "the job"
            raise BadField(
                "url",
                f"asks for {asked.url}, but {other} for {self._endpoint.url}; do not mix them",
                code=WRONG_URL,
            )
        return self._endpoint

    def _shape(self, endpoint: Endpoint, body: dict[str, object]) -> dict[str, object]:
        if self._shaper is None:
            self._shaper = self._expected.shaper(endpoint)
        return self._shaper.shape(body)


def endpoint_of_url(url: object) -> Endpoint | None:
    """What a URL of OpenAI's batch format asks for; None if it is none."""
    return _ENDPOINT_OF_URL.get(url) if isinstance(url, str) else None


def _endpoint_of(url: object) -> Endpoint:
    found = endpoint_of_url(url)
    if found is None:
        what = short(url) if isinstance(url, str) else kind_of(url)
        raise BadField("url", f"{what} is not supported; use one of {_URLS}", code=WRONG_URL)
    return found


def _body(entry: dict[str, object]) -> dict[str, object]:
    if "body" not in entry:
        raise BadField("body", "is missing")
    body = entry["body"]
    if isinstance(body, str):
        raise BadField("body", "must be an object, not a string; send the JSON itself, not JSON in a string")
    if not isinstance(body, dict):
        raise BadField("body", f"must be an object, not {kind_of(body)}")
    return body
