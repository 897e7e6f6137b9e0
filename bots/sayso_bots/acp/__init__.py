"""Between an editor and its agent, as the Agent Client Protocol has it: versions 1 and 2.

What the agent asks its editor is asked in chat as well, and the first answer counts. All other
messages pass as they came. Nothing in here decides, and what is not understood is never a yes.
"""
