"""`python -m plait`: the same as `plait`."""

from plait.cli.fast_path import main

if __name__ == "__main__":
    main()
