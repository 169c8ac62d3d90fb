"""Language models behind an OpenAI-compatible endpoint: a client, strict JSON answers, quotes, a `Generator`."""
