"""How much a model can read and write at once."""

from typing import Protocol

from shared.domain.catalog import Deployment


class Windows(Protocol):
    def tokens(self, deployment: Deployment) -> int:
        """Tokens that a question and its answer may have together; cautious where nobody tells."""
        ...
