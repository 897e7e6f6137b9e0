"""Text as a person may be shown it: visible, shortened, without secrets.

What a card shows of any text passes through here first, and what a log holds of an error. The only
words of our own are the marks of what is left out, such as ``[redacted: 9 characters]``. Nothing
decides here: whoever decides looks at the value itself.
"""
