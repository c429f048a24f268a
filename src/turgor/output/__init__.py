"""What a simulation shows to the outside: a layout once, then frames; and who takes them."""
