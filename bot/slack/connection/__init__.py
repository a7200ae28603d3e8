"""How the app is connected to Slack: ways in, workspaces, their installation, calls."""
