"""An app without a streaming extension: bodies come and go whole, below the default prefix `api`."""

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


@app.route(route="shout/{word}", methods=["POST"])
def shout(req: func.HttpRequest) -> func.HttpResponse:
    text = f"{req.route_params['word']} {req.params.get('tone')} {req.get_body().decode()}".upper()
    return func.HttpResponse(text, status_code=201, headers={"x-length": str(len(text))})


@app.route(methods=["GET"])
def nothing(req: func.HttpRequest) -> func.HttpResponse:
    raise KeyError("nothing here")
