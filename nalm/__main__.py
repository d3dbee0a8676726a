"""``python -m nalm``: the command line, also from a checkout that was never installed."""

from nalm.cli import main

if __name__ == "__main__":
    main()
