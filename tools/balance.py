"""How the slots of a population are divided among processes, and what resampling and the sums over families then
send from one to another. Children in the order of their parents take free places in ascending order
(algorithms/pa/pa_cpu.c); survivors stay."""
import dataclasses

import numpy as np

GRANULE = 32  # replicas that a kernel draws random numbers for together: shares begin at multiples of it


def divide(size, processes, granule=GRANULE):
    """First slots of the shares of `size` slots, and the end, [processes + 1] (gpumc_slice)."""
    units = -(-size // granule)
    whole, rest = divmod(units, processes)
    share = np.arange(processes + 1)
    return np.minimum((whole * share + rest * share // processes) * granule, size)


def find_places(copies):
    """Parents of the children that need a place and the free places, both ascending, and the new size, from the copies
    of each slot."""
    return settle(*surplus(copies), len(copies))


def surplus(copies):
    """Slots with further copies, each as often as it has them, and slots without any: both ascending."""
    copies = np.asarray(copies)
    several = np.flatnonzero(copies > 1)
    return np.repeat(several, copies[several] - 1), np.flatnonzero(copies == 0)


def settle(parents, free, before):
    """The same as find_places from the surplus of a population of `before`: the new one is shorter or longer, so that
    slots beyond its end are given up, or further ones are free."""
    size = before + len(parents) - len(free)
    if size >= before:
        return parents, np.concatenate([free, np.arange(before, size, dtype=free.dtype)]), size
    inside = np.searchsorted(parents, size)
    without = np.searchsorted(free, size)
    given_up = np.setdiff1d(np.arange(size, before, dtype=parents.dtype), free[without:], assume_unique=True)
    return (np.concatenate([parents[:inside], np.sort(np.concatenate([parents[inside:], given_up]))]),
            free[:without], size)


@dataclasses.dataclass(frozen=True)
class Transfers:
    """Replicas by process, but `crossing`, which is by boundary. `partners`: processes that a process sends to."""
    children: np.ndarray
    free: np.ndarray
    crossing: np.ndarray
    sent: np.ndarray
    received: np.ndarray
    partners: np.ndarray


def transfers(parents, free, bounds):
    """Of children whose parents are `parents`, both ascending, to the free places, with processes that have the slots
    from bounds[p] to bounds[p + 1]; what is beyond the end belongs to the last."""
    children, places = (_counts(slots, bounds) for slots in (parents, free))
    return transfers_of(children, places)


def transfers_of(children, places):
    """From the numbers of each process alone: child k takes place k, so that the children from E[p] to E[p+1] and the
    places from F[q] to F[q+1] have in common what goes from p to q."""
    begin_child, begin_place = (np.concatenate([[0], np.cumsum(n)]) for n in (children, places))
    if begin_child[-1] != begin_place[-1]:
        raise ValueError("as many children as free places are needed")
    cuts = np.unique(np.concatenate([begin_child, begin_place]))
    length = np.diff(cuts)
    source = np.searchsorted(begin_child, cuts[:-1], side="right") - 1
    target = np.searchsorted(begin_place, cuts[:-1], side="right") - 1
    away = source != target
    count = len(children)
    return Transfers(children=children, free=places, crossing=np.abs(begin_child - begin_place)[1:-1],
                     sent=np.bincount(source[away], length[away], count).astype(np.int64),
                     received=np.bincount(target[away], length[away], count).astype(np.int64),
                     partners=np.bincount(source[away], minlength=count))


def _counts(slots, bounds):
    edges = np.searchsorted(slots, bounds)
    edges[-1] = len(slots)
    return np.diff(edges)


def together(parents, free, before, after):
    """How much more the numbers of copies fluctuate for having relatives: the sum over families of the squared changes of
    their sizes, `before` and `after`, over the sum over replicas of (copies - 1)^2. 1 if replicas of a family do not know of
    each other."""
    further = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(parents) > 0, [True]]))) if len(parents) else parents
    alone = float((further.astype(float) ** 2).sum()) + len(free)
    change = after.astype(float) - before
    return float((change ** 2).sum()) / max(alone, 1.0)


@dataclasses.dataclass(frozen=True)
class Trade:
    """Records (family, members) by process: `held` by it, `sent` to owners elsewhere and how many these are, `received` as
    an owner, and families of its own that live on anywhere."""
    held: np.ndarray
    sent: np.ndarray
    partners: np.ndarray
    received: np.ndarray
    owned: np.ndarray


def trade(family, founders, bounds):
    """Of families that are owned by who has the slot of that number among the founders."""
    processes = len(bounds) - 1
    owners = divide(founders, processes)
    held, sent, partners = (np.zeros(processes, np.int64) for _ in range(3))
    received, owned = np.zeros(processes, np.int64), np.zeros(processes, np.int64)
    lives = np.zeros(founders, bool)
    for p in range(processes):
        last = len(family) if p == processes - 1 else bounds[p + 1]
        own = np.unique(family[bounds[p]:last])
        lives[own] = True
        by_owner = _counts(own, owners)
        held[p] = len(own)
        sent[p] = len(own) - by_owner[p]
        by_owner[p] = 0
        partners[p] = np.count_nonzero(by_owner)
        received += by_owner
    for q in range(processes):
        owned[q] = np.count_nonzero(lives[owners[q]:owners[q + 1]])
    return Trade(held, sent, partners, received, owned)
