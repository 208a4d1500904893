"""Tests of the statistics.

Floats are compared exactly where the result is exact: halves, quarters, eighths, 0 and 1, values that are passed on
unchanged (thresholds, edges, given numbers), and results that must be equal to the last bit because that is the claim
(order of rows, repeated calls, two names of one number). Everything that is computed otherwise has a tolerance.
"""
