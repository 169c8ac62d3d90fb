"""`python -m agent` is `sufficit`."""

from .cli import main

main()
