"""Streams cut into blocks."""

from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.azure.uploads import in_blocks
from tests.support.streams import stream


@given(pieces=st.lists(st.binary(max_size=20), max_size=20), size=st.integers(min_value=1, max_value=25))
async def test_blocks_hold_the_content_in_order_and_are_full(pieces: list[bytes], size: int) -> None:
    blocks = [block.getvalue() async for block in in_blocks(stream(*pieces), size)]
    assert b"".join(blocks) == b"".join(pieces)
    assert all(len(block) == size for block in blocks[:-1])
    assert all(0 < len(block) <= size for block in blocks)
