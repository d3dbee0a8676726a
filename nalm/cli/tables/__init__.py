"""Tables that the commands print, one file per command or kind of result; ``screen`` prints them."""
