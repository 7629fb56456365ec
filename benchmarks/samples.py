"""Made-up work: tickets to be summarised, as many and as long as asked for."""

import random
from collections.abc import Iterator
from typing import Final

import msgspec

LINE_BYTES: Final = 4_000
_SENTENCE: Final = (
    "the printer on the third floor shows error when somebody sends a large document from the new laptop and"
    " after restarting twice it prints half of a page please call back before noon because our team needs"
    " invoices for customers in Graz Łódź Málaga and Zürich today"
)
_WORDS: Final = _SENTENCE.split()


def text(seed: int, size: int) -> str:
    """About `size` bytes, different for every seed."""
    words = random.Random(seed).choices(_WORDS, k=size // 6 + 8)
    return f"Ticket {seed}: {' '.join(words)}"[:size]


def requests(count: int, *, line_bytes: int = LINE_BYTES) -> Iterator[bytes]:
    """Lines as tenants upload them, newline included."""
    room = max(line_bytes - 180, 20)
    system = {"role": "system", "content": "Summarize the ticket in two sentences."}
    for n in range(count):
        messages = [system, {"role": "user", "content": text(n, room)}]
        body = {"messages": messages, "seed": 7}
        yield msgspec.json.encode({"custom_id": f"ticket-{n}", "body": body}) + b"\n"


def blocks(lines: Iterator[bytes], size: int = 1024 * 1024) -> Iterator[bytes]:
    """The lines, joined to pieces that are worth sending."""
    held: list[bytes] = []
    held_size = 0
    for line in lines:
        held.append(line)
        held_size += len(line)
        if held_size >= size:
            yield b"".join(held)
            held, held_size = [], 0
    if held:
        yield b"".join(held)


def answer(key: str, n: int) -> bytes:
    """One line of a provider's output as Azure writes it, newline included."""
    content = (
        f"Answer {n}. The printer of the third floor fails with large documents. Somebody should call back."
    )
    body = {
        "id": f"chatcmpl-{n:08}",
        "object": "chat.completion",
        "created": 1_796_000_000,
        "model": "gpt-5-mini-2025-08-07",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None, "annotations": []},
                "logprobs": None,
                "finish_reason": "stop",
                "content_filter_results": {
                    name: {"filtered": False, "severity": "safe"}
                    for name in ("hate", "self_harm", "sexual", "violence")
                },
            }
        ],
        "usage": {
            "prompt_tokens": 900 + n % 100,
            "completion_tokens": 24,
            "total_tokens": 924 + n % 100,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "system_fingerprint": "fp_0123456789",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
    }
    row = {
        "id": f"batch_req_{n:08}",
        "custom_id": key,
        "response": {"status_code": 200, "request_id": f"{n:08}", "body": body},
        "error": None,
    }
    return msgspec.json.encode(row) + b"\n"
