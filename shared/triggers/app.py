"""The app that the blueprints are registered with."""

import azure.durable_functions as df


class PosternApp(df.DFApp):
    """Without the two functions that the library adds for HTTP calls out of orchestrations.

    Nobody calls them, and a host that has them takes part in driving orchestrations, even where everything else
    of the hours lane is switched off.
    """

    def _register_builtin_http_functions(self) -> None:
        pass
