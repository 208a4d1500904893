"""Services that speak OpenAI's chat completions, live and in batches."""
