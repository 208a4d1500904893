"""Values in texts: numbers, quantities, dates, times, prices, and when two of them are the same."""
