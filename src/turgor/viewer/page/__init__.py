"""The page of the playground: its threads, tabs, pointers and selection."""
