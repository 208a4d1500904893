"""A run, read: its numbers, its questions, its health; samples as a run."""
