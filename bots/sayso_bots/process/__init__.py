"""What concerns the process as such: being stopped, its terminal, its files, its memory.

Nothing in here knows what the product does.
"""
