"""Slack: listeners, jobs, delivery and rendering."""
