"""The command line."""


def main() -> None:
    """Run the command line."""
    raise SystemExit("the command line is being written")
