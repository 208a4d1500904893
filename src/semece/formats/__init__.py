"""Readers of other people's sample files."""
