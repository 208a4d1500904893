"""Comparisons: several runs, two judges, a judge and people, limits for continuous integration."""
