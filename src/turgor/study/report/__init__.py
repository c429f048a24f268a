"""The report of a study: one page with what was asked, what came out, and what went wrong."""

from turgor.study.report.write import write_report

__all__ = ["write_report"]
