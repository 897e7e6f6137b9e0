"""A card as a message of Telegram: text with entities, a keyboard, and what fits.

Functions of a card, and the sending of what they made; nothing in here reads what comes from
Telegram.
"""
