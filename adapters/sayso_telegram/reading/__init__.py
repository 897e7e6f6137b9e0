"""What an update of Telegram says: a press, a reply, a member, and from where.

Functions of what was sent; nothing in here answers or asks Telegram anything.
"""
