"""What a user has to change."""


class Refusal(Exception):
    """A picture that cannot be drawn; the message says why, and what can be done."""
