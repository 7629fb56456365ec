"""Registers the triggers with the Functions host, and does nothing else."""

import azure.functions as func

from shared.triggers import (
    batch,
    documents,
    health,
    http_azure_openai,
    http_documents,
    http_jobs,
    http_openai,
    http_reports,
    sweep,
)
from shared.triggers.app import PosternApp

app = PosternApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in (
    batch.blueprint,
    documents.blueprint,
    health.blueprint,
    http_azure_openai.blueprint,
    http_documents.blueprint,
    http_jobs.blueprint,
    http_openai.blueprint,
    http_reports.blueprint,
    sweep.blueprint,
):
    app.register_functions(blueprint)
