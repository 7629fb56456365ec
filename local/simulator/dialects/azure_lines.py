"""Azure OpenAI's batch lines: OpenAI's, with filter verdicts, its own codes and its own habits."""

from local.simulator.answers.replies import Failure, Reply
from local.simulator.dialects import openai_bodies
from local.simulator.dialects.openai_lines import OpenAILines
from local.simulator.dialects.port import RowNames
from local.simulator.failures import Json

HARMS = ("hate", "self_harm", "sexual", "violence")
PASSED = {harm: {"filtered": False, "severity": "safe"} for harm in HARMS}
PROMPT_PASSED = {**PASSED, "jailbreak": {"filtered": False, "detected": False}}
BLOCKED = {**PROMPT_PASSED, "hate": {"filtered": True, "severity": "high"}}


class AzureLines(OpenAILines):
    """`model` in each line is the name of a deployment."""

    name = "azure_openai"
    max_lines = 100_000
    expires = False
    output_seconds = None
    filter_is_error = True
    writes_cancelled_rows = False
    keeps_empty_files = True
    endpoints = (openai_bodies.CHAT, openai_bodies.RESPONSES)
    codes = {  # noqa: RUF012  read-only by convention
        "url": "url_mismatch",
        "model": "model_mismatch",
        "duplicate": "duplicate_custom_id",
        "lines": "too_many_tasks",
        "empty": "empty_file",
        "json": "invalid_json_line",
        "body": "invalid_request",
    }

    def canonical(self, url: str) -> str:
        return url if url.startswith("/v1/") else f"/v1{url}"

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        body = super().reply_body(model, names, reply, endpoint)
        if endpoint == openai_bodies.CHAT:
            shown = PASSED if reply.finish != "content_filter" else BLOCKED
            for choice in body["choices"]:
                choice["content_filter_results"] = shown
            body["prompt_filter_results"] = [{"prompt_index": 0, "content_filter_results": PROMPT_PASSED}]
        return body

    def failure_body(self, failure: Failure) -> object:
        if not failure.is_filter or failure.body is not None:
            return super().failure_body(failure)
        inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": BLOCKED}
        return {
            "error": {
                "message": failure.message,
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": failure.status,
                "innererror": inner,
            }
        }
