"""``python -m fairmix`` is the command line."""

from fairmix.cli import main

if __name__ == "__main__":
    main()
