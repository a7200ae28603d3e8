"""From a question to a grounded answer or an abstention."""
