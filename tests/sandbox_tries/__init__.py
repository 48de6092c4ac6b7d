"""What tools try inside of a sandbox, by what it is about; each is one function."""
