"""A model that draws from a known distribution and misbehaves on request, for tests: ours and the users'."""
