"""One module a command: it parses, calls one service or selector, prints."""
