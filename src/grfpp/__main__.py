"""``python -m grfpp`` is the program `grfpp`."""

from grfpp.cli import main

if __name__ == "__main__":
    main()
