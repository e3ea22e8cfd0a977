"""What a user has to change."""


class Refusal(Exception):
    """A picture that cannot be drawn; the message says why, and what can be done."""


class NotYet(Refusal):
    """One that can be drawn once the run is farther."""


def lacking(result, what: str, algorithm: str) -> Refusal:
    """Says that a file has nothing of a kind that only this algorithm has: one that is being written may have it later."""
    may_come = not result.is_complete and result.config.get("algorithm", {}).get("name") == algorithm
    return NotYet(f"{result.path}: {what}; so far, the run has none") if may_come else Refusal(f"{result.path}: {what}")
