"""What the adapters of several services share: refused options, secrets, prompts that are too long."""
