"""What a user has to change."""


class Refusal(Exception):
    """A picture that cannot be drawn; the message says why, and what can be done."""


class NotYet(Refusal):
    """One that can be drawn once the run is farther."""


def lacking(result, what: str) -> Refusal:
    """Says that a file has nothing of this kind; one that is being written may have it later."""
    return Refusal(f"{result.path}: {what}") if result.is_complete else NotYet(f"{result.path}: {what}; so far, the run has none")
