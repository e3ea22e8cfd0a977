"""Numbers drawn from a probability of which only the logarithm is known, up to a constant: an ensemble of walkers.

    starts, logs = posterior.spread(log_probability, places, random)
    drawn = posterior.sample(log_probability, starts, logs, random, 100)      # [move, walker, parameter]

Each walker in turn moves on the line through itself and another one (Goodman and Weare, Comm. App. Math. Comp. Sci. 5, 65 (2010), "stretch move"), or by
the difference of two others, which leads from one maximum to another (ter Braak, Stat. Comput. 16, 239 (2006)). So neither scales nor directions of the
parameters matter. `spread()` chooses starts among many places, so that walkers begin near all maxima. Where the maximum is narrow, most of these are far
from it: walkers that stay behind, at places e^STRAY times less likely than the likeliest, begin again among the others until none does. They would
otherwise be counted as if their places were as likely as all others.
"""
import numpy as np

STRETCH = 2.0  # a: factors from 1/a to a
WALKERS = 32
JUMPS = 0.2  # share of moves by the difference of two others
THERMALIZATION = 40  # moves of each walker before any is recorded, and after any began again
STRAY, ROUNDS = 20.0, 25
PLACES = 240  # that are tried for starts
TEMPERED = 0.2  # power of the probability by which starts are chosen: wider than what is sampled


def spread(log_probability, places, random, count=WALKERS):
    """`count` starts, [walker, parameter], of `places` [place, parameter] and their log probabilities."""
    logs = np.array([log_probability(place) for place in places])
    if np.count_nonzero(np.isfinite(logs)) < count:
        raise np.linalg.LinAlgError("numbers that are nowhere likely")
    shares = np.maximum(np.exp(TEMPERED * (logs - logs.max())), np.where(np.isfinite(logs), 1e-12, 0.0))
    chosen = random.choice(len(places), count, replace=False, p=shares / shares.sum())
    return places[chosen], logs[chosen]


def sample(log_probability, starts, logs, random, moves):
    """Places [move, walker, parameter] of walkers that begin at `starts` [walker, parameter] with log probabilities `logs`."""
    here, logs = np.array(starts), np.array(logs)
    for _ in range(ROUNDS):
        _move(log_probability, here, logs, random, THERMALIZATION)
        strays = np.flatnonzero(logs < logs.max() - STRAY)
        if len(strays) == 0:
            break
        _begin_again(log_probability, here, logs, strays, random)
    return _move(log_probability, here, logs, random, moves)


def _begin_again(log_probability, here, logs, strays, random):
    """Puts each stray on the line between two walkers that are none or, where there is one alone, between that one and the stray's place, near the former."""
    others = np.setdiff1d(np.arange(len(here)), strays)
    for stray in strays:
        first, second = (others[0], stray) if len(others) == 1 else random.choice(others, 2, replace=False)
        share = 10 ** random.uniform(-4, -1) if len(others) == 1 else random.random()
        here[stray] = here[first] + share * (here[second] - here[first])
        logs[stray] = log_probability(here[stray])


def _move(log_probability, here, logs, random, moves):
    """Moves walkers from `here` with log probabilities `logs`, both of which it changes; returns all places [move, walker, parameter]."""
    count, dimension = here.shape
    found = np.empty((moves, count, dimension))
    for move in range(moves):
        halves = np.split(random.permutation(count), [count // 2])
        for movers, others in (halves, halves[::-1]):
            partners = here[np.array([random.choice(others, 2, replace=False) for _ in movers])]  # [walker, 2, parameter]
            stretch = ((STRETCH - 1) * random.random(len(movers)) + 1) ** 2 / STRETCH
            proposed = partners[:, 0] + stretch[:, None] * (here[movers] - partners[:, 0])
            jumps = random.random(len(movers)) < JUMPS
            proposed[jumps] = (here[movers] + partners[:, 0] - partners[:, 1])[jumps]
            limits = np.log(1 - random.random(len(movers))) - np.where(jumps, 0, (dimension - 1) * np.log(stretch))
            for walker, place, limit in zip(movers, proposed, limits):
                log = log_probability(place)
                if limit < log - logs[walker]:
                    here[walker], logs[walker] = place, log
        found[move] = here
    return found
