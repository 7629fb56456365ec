"""The sweep's timer."""

import azure.durable_functions as df
import azure.functions as func

from shared.adapters.azure.orchestrations import DurableOrchestrations
from shared.bootstrap import application

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


@blueprint.timer_trigger(arg_name="timer", schedule="%POSTERN_SWEEP_SCHEDULE%")
@blueprint.durable_client_input(client_name="client")
async def sweep(timer: func.TimerRequest, client: df.DurableFunctionsClient) -> None:
    await application().sweep(DurableOrchestrations(client))
