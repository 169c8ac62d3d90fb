"""`python -m benchmarks`."""

from .cli import main

if __name__ == "__main__":
    main()
