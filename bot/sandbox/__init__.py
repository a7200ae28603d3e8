"""A local stand-in for Slack, for the demo and the tests; never loaded in production."""
