"""The judge without a model: rules of general knowledge about values and English."""
