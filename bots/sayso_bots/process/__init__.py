"""The process as such: being stopped, its terminal, files and memory, who connects.

Nothing in here knows what the product does.
"""
