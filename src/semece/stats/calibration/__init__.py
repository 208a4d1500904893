"""Calibration of many questions: bins, the ECE family, proper scores, ranking, thresholds to abstain at."""
