"""The report: what it is made of, its page, and how it is written."""
