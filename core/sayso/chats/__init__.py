"""What the core needs from a chat platform: places, and the port that every adapter keeps.

Adapters are written against this room and nothing above it. No platform is named here.
"""
