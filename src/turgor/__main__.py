"""`python -m turgor` is the `turgor` program."""

from turgor.cli import main

main()
