"""Token counts that are plausible, not exact: two ninths of the bytes, about right for English prose."""

MESSAGE_OVERHEAD = 3
CACHEABLE_FROM = 1024
CACHE_STEP = 128


def count(text: str) -> int:
    """At least 1 for anything that is not empty."""
    return (len(text.encode("utf-8", "surrogatepass")) * 2 + 8) // 9


def cached(instructions: str, total: int) -> int:
    """The shared beginning of long prompts, in steps of 128, as the providers cache it."""
    if total < CACHEABLE_FROM:
        return 0
    return count(instructions) // CACHE_STEP * CACHE_STEP


def cut(text: str, tokens: int) -> str:
    """The beginning of `text` that counts as at most `tokens`."""
    return text.encode("utf-8", "surrogatepass")[: tokens * 9 // 2].decode("utf-8", "ignore")
