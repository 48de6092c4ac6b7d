"""The board's pages: parse, read, render."""
