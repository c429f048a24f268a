"""The command line. One file per command; what a command needs is imported when it runs, so that --help is quick.

Exit codes: 0 fine, 1 the simulation failed, 2 bad input, 130 interrupted; one message on stderr, never a traceback.
"""

from turgor.cli.app import main

__all__ = ["main"]
