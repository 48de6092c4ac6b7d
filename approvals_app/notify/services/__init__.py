"""What is written of alerts and deliveries."""
