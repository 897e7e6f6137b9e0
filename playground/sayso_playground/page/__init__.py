"""The page of the playground: what it shows and what a visitor does on it.

It reads and plays the doubles; what a platform would answer is decided in their own rooms.
"""
