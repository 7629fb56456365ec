"""The simulated model: from a question to a reply. Pure: the same question always has the same reply."""

import re

import msgspec

from local.simulator.answers import tokens
from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Reply, Usage
from local.simulator.answers.shapes import shaped
from local.simulator.answers.summary import keywords, summarize
from local.simulator.answers.vectors import DEFAULT_DIMENSIONS, embed

TRANSLATE = re.compile(r"\btranslate\b.*?\b(?:in)?to\s+(\w+)", re.IGNORECASE | re.DOTALL)
TRANSLATED_CHARACTERS = 2000
REASONING_TOKENS = 64


def answer(question: Question) -> Reply:
    """What the model says when nothing interferes: cut, with `length`, only where the bound is tiny."""
    if question.inputs:
        return embedding(question)
    said = text_for(question)
    allowed = visible_tokens(question)
    if allowed is None or tokens.count(said) <= allowed:
        return spoken(question, said)
    if not question.wants_json:
        said = summarize(said, limit=1)
    is_cut = tokens.count(said) > allowed
    return spoken(question, tokens.cut(said, allowed), finish="length" if is_cut else "stop")


def spoken(question: Question, text: str, *, finish: str = "stop", refusal: str | None = None) -> Reply:
    """A reply with these words, and what it costs."""
    return Reply(
        text=text, finish=finish, refusal=refusal, usage=_usage(question, tokens.count(refusal or text))
    )


def text_for(question: Question) -> str:
    if question.schema is not None:
        return msgspec.json.encode(shaped(question.schema, question.text)).decode()
    if question.wants_json:
        made = {"summary": summarize(question.text), "keywords": keywords(question.text)}
        return msgspec.json.encode(made).decode()
    if wanted := TRANSLATE.search(question.instructions or question.text[:200]):
        # No translation model comes in a package; the label keeps anyone from taking it for one.
        return f"[simulated translation, {wanted[1]}] {question.text[:TRANSLATED_CHARACTERS]}"
    return summarize(question.text) or "There is no text to answer."


def embedding(question: Question) -> Reply:
    size = question.dimensions or DEFAULT_DIMENSIONS
    vectors = tuple(embed(text, size) for text in question.inputs)
    return Reply(vectors=vectors, usage=Usage(input_tokens=sum(map(tokens.count, question.inputs))))


def visible_tokens(question: Question) -> int | None:
    """How many tokens may be seen: the caller's maximum less what is thought."""
    if question.max_tokens is None:
        return None
    return max(question.max_tokens - _reasoning(question), 1)


def _reasoning(question: Question) -> int:
    if not question.thinks:
        return 0
    return min(REASONING_TOKENS, (question.max_tokens or REASONING_TOKENS * 2) // 2)


def _usage(question: Question, visible: int) -> Usage:
    thought = _reasoning(question)
    asked = question.input_tokens
    return Usage(
        input_tokens=asked,
        cached_tokens=tokens.cached(question.instructions, asked),
        output_tokens=visible + thought,
        reasoning_tokens=thought,
    )
