"""What one child process may use while it reads one document."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """Bounds the kernel enforces on a child, and the bounds of what a package may unfold to.

    `memory_bytes` is address space, of which the loaded readers take 100 MB before a document is opened.
    """

    memory_bytes: int = 2**30
    cpu_seconds: int = 20
    wall_seconds: float = 60
    max_inflated_bytes: int = 300 * 2**20
    max_entries: int = 10_000
