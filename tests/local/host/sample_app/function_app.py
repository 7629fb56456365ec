"""A function app that uses what the local host promises to run; the tests talk to it over HTTP."""

import azure.durable_functions as df
import azure.functions as func
from blueprint_durable import blueprint as durable
from blueprint_http import blueprint as http
from blueprint_timers import blueprint as timers

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)
app.register_functions(http)
app.register_functions(durable)
app.register_functions(timers)
