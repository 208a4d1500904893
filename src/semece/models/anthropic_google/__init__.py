"""Anthropic and Google, through ``pydantic-ai-slim`` (extra ``providers``)."""
