"""What is read of alerts and deliveries."""
