"""Calibration for open-ended question answering, from samples alone."""
