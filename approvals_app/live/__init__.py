"""Live pages of approvals: what is read for one reader when something may be new."""
