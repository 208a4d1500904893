"""The command line as a module: ``python -m semece``."""

from semece.cli import main

if __name__ == "__main__":
    main()
