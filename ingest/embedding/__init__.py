"""Texts to vectors: the `Embedder` port and its three adapters."""
