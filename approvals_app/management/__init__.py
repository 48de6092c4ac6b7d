"""Management commands of approvals."""
