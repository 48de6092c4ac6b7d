"""The HTTP API of tasks: parse, call one service or selector, answer."""
