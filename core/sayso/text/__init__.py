"""Text as a person may be shown it: visible, shortened, without secrets.

What a card shows of any text passes through here first. No word of our own stands here, and nothing
decides: whoever looks at a value to decide takes the value itself.
"""
