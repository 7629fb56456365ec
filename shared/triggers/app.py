"""The app that the blueprints are registered with."""

from typing import Any

import azure.durable_functions as df

from shared.triggers.worker_web import take_every_path


class PosternApp(df.DFApp):
    """Without the two functions that the library adds for HTTP calls out of orchestrations.

    Nobody calls them, and a host that has them takes part in driving orchestrations, even where everything else
    of the hours lane is switched off.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        take_every_path()

    def _register_builtin_http_functions(self) -> None:
        pass
