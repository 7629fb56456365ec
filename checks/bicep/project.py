"""All templates of a folder, each read once."""

from dataclasses import dataclass, field
from pathlib import Path

from checks.bicep.syntax import Source
from checks.bicep.template import Template, read_template


@dataclass(frozen=True, slots=True)
class Project:
    """`root` is the folder that holds `main.bicep`."""

    root: Path
    _templates: dict[Path, Template] = field(default_factory=dict)

    def templates(self) -> list[Template]:
        return [self.template(path) for path in sorted(self.root.rglob("*.bicep"))]

    def parameter_files(self) -> list[Path]:
        return sorted(self.root.rglob("*.bicepparam"))

    def template(self, path: Path) -> Template:
        if path not in self._templates:
            self._templates[path] = read_template(Source.read(path))
        return self._templates[path]

    def named_from(self, path: Path, written: str) -> Template | None:
        """The template that `path` calls `written`; None if there is none, exactly so spelt."""
        found = beside(path, written)
        return self.template(found) if found is not None else None


def beside(path: Path, written: str) -> Path | None:
    """The file that `path` calls `written`, if its letters have the same case on disk as well."""
    here = path.parent
    for part in Path(written).parts:
        if part == "..":
            here = here.parent
        elif here.is_dir() and part in {child.name for child in here.iterdir()}:
            here = here / part
        else:
            return None
    return here if here.is_file() else None
