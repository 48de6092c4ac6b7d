"""A small site around the frame, whose socket and poll address a test commands over HTTP."""
