"""The pages of approvals. A GET never decides, a socket never decides (rule 11)."""
