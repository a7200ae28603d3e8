"""Manuel: answers questions from the handbook, in Slack and at the command line."""
