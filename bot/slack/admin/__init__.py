"""What admins do with `/handbook`: syncs, the schedule, channels, explanations."""
