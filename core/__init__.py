"""The kernel that every application uses, and the composition root that wires them."""
