"""The fixtures of the playground's tests."""

from support.playgrounds import keeping, open_page, open_playground, private  # noqa: F401
