"""Does the passage say it?"""
