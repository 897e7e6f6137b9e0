"""Text as a person may be shown it: visible, shortened, without secrets.

What a card shows of any text passes through here first, and what a log holds of an error. No word
of our own stands here, and nothing decides: whoever decides looks at the value itself.
"""
