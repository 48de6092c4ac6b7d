"""Management commands of the kernel and the composition root."""
