"""The page of the stand-in: Slack as a person sees it, and what is behind it, in a browser."""
