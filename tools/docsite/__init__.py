"""The pages of the site that are made from the program itself, and how `mkdocs` gets them (hooks.py)."""
