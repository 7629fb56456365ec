"""Draws what came of both lanes of the demo as docs/images/demo.svg: `python -m local.demo.picture`."""

import io
import re
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from local.demo.finale import summary, verdict
from local.demo.progress import Lines
from local.demo.run import run_on_a_stack

PICTURE = Path(__file__).parent.parent.parent / "docs" / "images" / "demo.svg"
WIDTH = 100
# The format would have readers fetch a font from somebody's server.
_FONT_FACES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)


def main() -> int:
    """Run the samples and replace the picture."""
    with tempfile.TemporaryDirectory(prefix="postern-picture-") as folder:
        run = run_on_a_stack(Path(folder) / "data", Path(folder) / "out", Lines(Console(stderr=True)))
    page = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    page.print(summary(run))
    # How long it took here is nothing that a reader would find again.
    page.print(verdict(run))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    svg = page.export_svg(
        title="make demo", code_format=_FONT_FACES.sub("", CONSOLE_SVG_FORMAT), unique_id="demo"
    )
    PICTURE.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
