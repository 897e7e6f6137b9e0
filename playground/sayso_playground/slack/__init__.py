"""The double of Slack: its Web API, its callbacks, its socket, and the limits of both."""
