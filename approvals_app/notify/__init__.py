"""Alerts, and telling people outside of the pages: e-mail, signed webhooks, chat and paging."""
