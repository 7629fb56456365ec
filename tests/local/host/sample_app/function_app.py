"""A function app that uses what the local host promises to run; the tests talk to it over HTTP."""

import azure.durable_functions as df
import azure.functions as func

from tests.local.host.sample_app.durable_functions import blueprint as durable
from tests.local.host.sample_app.http_functions import blueprint as http
from tests.local.host.sample_app.timer_functions import blueprint as timers

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)
app.register_functions(http)
app.register_functions(durable)
app.register_functions(timers)
