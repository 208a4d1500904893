"""The statistics: pure functions, arrays in, numbers out. Nothing here reads a file, a clock or the network."""
