"""What comes from Telegram: over a webhook or by polling, handed to the desk, answered.

Registering the webhook belongs here too. What an update says is found out in ``reading``.
"""
