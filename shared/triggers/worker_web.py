"""Has every request that the host sends reach its function.

The worker library's web server answers some itself: it shows pages of its own to anybody (`/docs`, `/redoc`,
`/openapi.json`), and knows no path with a line end in it. Besides the answer being none of ours, the function
then waits for a request that never comes, until its time is over.
"""

from collections.abc import Callable
from typing import Any, Final

from azurefunctions.extensions.http.fastapi import web
from fastapi import FastAPI
from starlette.convertors import PathConvertor, register_url_convertor

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class _Anything(PathConvertor):
    regex = r"[\s\S]*"


def take_every_path() -> None:
    """Before the worker starts its server, which it does once the app is loaded."""
    register_url_convertor("anything", _Anything())
    served: Any = web.WebApp  # type: ignore[attr-defined]
    served.__init__, served.route = _without_pages, _every_path


def _without_pages(app: Any) -> None:
    app.web_app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)


def _every_path(app: Any, act: Callable[..., Any]) -> Any:
    return app.web_app.api_route("/{path:anything}", methods=list(METHODS))(act)
