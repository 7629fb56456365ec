"""The newest good catalogue of a text that changes under us. Knows neither files nor blobs."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, Protocol

from shared.domain.catalog import Catalog
from shared.domain.errors import Conflict, NotFound, TryAgainLater
from shared.ports.clock import Clock
from shared.wire.catalog import CatalogRefused, Problem, read_catalog, schema_paths

log = logging.getLogger(__name__)

OnRefused = Callable[[CatalogRefused], None]
_LOGGED_PROBLEMS: Final = 10
_NEVER: Final = "never looked"


class CatalogText(Protocol):
    """Where the text is. Both verbs may raise `TryAgainLater`."""

    @property
    def name(self) -> str:
        """For people: what to put before a line number."""
        ...

    async def version(self, beside: str | None = None) -> str | None:
        """Another one whenever the content is another. None: there is no text. Cheap.

        Of the text itself, or of the file at this path from the text's folder.
        """
        ...

    async def read(self, version: str, beside: str | None = None) -> bytes:
        """At most `MAX_BYTES` and one more. Raise `Conflict` if the version is another by now."""
        ...


class LastGood:
    """Looks for a new version when asked, at most once every `every`.

    A version that is refused is logged and handed to `on_refused` once; the last good catalogue stays.
    """

    def __init__(
        self,
        text: CatalogText,
        *,
        env: Mapping[str, str],
        clock: Clock,
        every: timedelta,
        on_refused: OnRefused | None = None,
    ) -> None:
        self._text = text
        self._env = env
        self._clock = clock
        self._every = every
        self._on_refused = on_refused
        self._catalog: Catalog | None = None
        self._versions: dict[str | None, str | None] = {None: _NEVER}
        self._refusal: str | None = None
        self._silence: str | None = None
        self._looked_at: datetime | None = None
        self._looking = asyncio.Lock()

    @property
    def trouble(self) -> str | None:
        """Why the newest version is not in force. None: it is."""
        return self._silence or self._refusal

    async def current(self) -> Catalog:
        # Nobody waits for a look that another caller has begun, unless there is nothing to go on with.
        if self._is_due() and not (self._catalog and self._looking.locked()):
            async with self._looking:
                if self._is_due():
                    await self._look()
                    self._looked_at = self._clock.now()
        if self._catalog is None:
            raise TryAgainLater(f"there is no good catalogue yet: {self.trouble}")
        return self._catalog

    def _is_due(self) -> bool:
        # The absolute value: a clock that was set back must not stop us from looking.
        return self._looked_at is None or abs(self._clock.now() - self._looked_at) >= self._every

    async def _look(self) -> None:
        try:
            versions = await self._versions_of([path for path in self._versions if path is not None])
            if versions != self._versions:
                await self._take(versions[None])
            self._silence = None
        except (TryAgainLater, Conflict, NotFound) as error:
            if self._silence != str(error):
                log.warning("catalog.unreadable", extra={"catalog": self._text.name, "reason": str(error)})
            self._silence = str(error)

    async def _versions_of(self, beside: Collection[str]) -> dict[str | None, str | None]:
        """Of the text, under None, and of the schema files that go with it."""
        return {path: await self._text.version(path) for path in (None, *beside)}

    async def _take(self, version: str | None) -> None:
        versions: dict[str | None, str | None] = {None: version}
        try:
            if version is None:
                raise CatalogRefused(self._text.name, [Problem(line=1, field="", reason="does not exist")])
            content = await self._text.read(version)
            paths = await asyncio.to_thread(schema_paths, content)
            versions |= {path: await self._text.version(path) for path in sorted(paths)}
            schemas = {path: await self._schema(path, versions[path]) for path in paths}
            self._catalog = await asyncio.to_thread(
                read_catalog, content, file=self._text.name, env=self._env, schemas=schemas
            )
        except CatalogRefused as error:
            self._refuse(error)
        else:
            self._refusal = None
            log.info("catalog.loaded", extra={"catalog": self._text.name, "version": version})
        self._versions = versions

    async def _schema(self, path: str, version: str | None) -> bytes | None:
        return None if version is None else await self._text.read(version, path)

    def _refuse(self, error: CatalogRefused) -> None:
        self._refusal = str(error)
        log.error(
            "catalog.refused",
            extra={
                "catalog": error.file,
                "problems": [f"line {p.line}: {p}" for p in error.problems[:_LOGGED_PROBLEMS]],
                "total": error.total,
                "last_good_stays": self._catalog is not None,
            },
        )
        if self._on_refused is not None:
            self._on_refused(error)
