"""How sure the numbers are: intervals, bootstrap, tests, bounds for what was left out."""
