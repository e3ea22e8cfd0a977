"""What a user has to change."""


class Refusal(Exception):
    """A picture that cannot be drawn; the message says why, and what can be done."""


class NotYet(Refusal):
    """One that can be drawn once the run is farther."""
