"""The pages of alerts and deliveries."""
