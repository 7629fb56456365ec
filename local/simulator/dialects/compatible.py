"""A server like vLLM or Ollama below `/compatible/v1`: OpenAI's calls, but no files and no batches."""

from aiohttp import web

from local.simulator.dialects.mounting import Parts, mounted
from local.simulator.dialects.openai import model_routes, refuse
from local.simulator.dialects.openai_lines import OpenAILines

PREFIX = "/compatible/v1"


class CompatibleLines(OpenAILines):
    name = "openai_compatible"


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = CompatibleLines()
    return mounted(PREFIX, model_routes(parts, dialect), parts, dialect, refuse)
