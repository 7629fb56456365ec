"""Tasks that are one question: extract, classify, prompt."""

from shared.services.tasks.prompts import instructions_of, request_for, schema_for
from shared.services.tasks.work import Reply, Work


async def one_question(work: Work) -> Reply:
    body = request_for(work.order)
    check = work.check(schema_for(work.order))
    room = await work.room(instructions_of(work.order))
    if not room.is_enough:
        return Reply(judgement=room.too_large())
    return Reply(judgement=await work.asking.ask(body, check=check))
