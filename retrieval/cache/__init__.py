"""The coverage cache: pages and passages that a search may use again, and what it knows about their age."""
