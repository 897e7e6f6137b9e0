"""A card as Slack's blocks: what is shown, within what Slack allows.

Pure functions of a card; nothing in here calls Slack or reads what comes from it.
"""
