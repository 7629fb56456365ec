"""Writes the sample data next to this package."""

from pathlib import Path

from examples.generator.files import write_samples

if __name__ == "__main__":
    write_samples(Path(__file__).parent.parent)
