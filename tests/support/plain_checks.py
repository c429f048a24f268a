"""Checks that run under pytest, and as a plain script where there is no pytest."""

from __future__ import annotations

import traceback


def title(check, *arguments):
    return " ".join([check.__name__.removeprefix("check_").replace("_", " "), *map(str, arguments)])


def run_checks(checks) -> int:
    """Run checks, one line each; the number of failures is the exit code."""
    failures = 0
    for check, *arguments in checks:
        try:
            check(*arguments)
            print(f"PASS {title(check, *arguments)}", flush=True)
        except Exception as error:
            failures += 1
            print(f"FAIL {title(check, *arguments)}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc(limit=-3)
    print(f"{len(checks) - failures} of {len(checks)} passed")
    return failures
