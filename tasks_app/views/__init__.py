"""The task pages: parse, call one service or selector, render. A GET changes nothing."""
