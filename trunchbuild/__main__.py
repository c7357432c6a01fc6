"""`python -m trunchbuild` is the command `trunchbuild`."""

from trunchbuild.cli.entry import run

if __name__ == "__main__":
    run()
