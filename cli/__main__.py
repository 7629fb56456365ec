"""`python -m cli`, or `./postern`: the commands."""

import click

from cli.capacity.command import capacity
from cli.scale.command import scale


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Tools for those who run Postern."""


main.add_command(scale)
main.add_command(capacity)

if __name__ == "__main__":
    main(prog_name="postern")
