"""What a simulation shows to the outside: a layout once, then frames; the sinks that take them; the progress bar."""
