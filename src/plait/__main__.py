"""`python -m plait`: the same as `plait`."""

from plait.cli.quick import main

if __name__ == "__main__":
    main()
