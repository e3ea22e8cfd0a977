"""Samples of +-J couplings with known averages: splitmix64 with state = seed; for each site and each
direction in order, J = -1 if the top bit of the next output is 1, else +1."""

MASK = 2**64 - 1


def splitmix64(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def couplings(shape, seed):
    """Returns J in the order of a couplings file: site x + Lx (y + Ly z), then direction."""
    sites = 1
    for side in shape:
        sites *= side
    words = splitmix64(seed)
    return [-1 if next(words) >> 63 else 1 for _ in range(sites * len(shape))]


def text_file(shape, seeds):
    """Returns the contents of a text file with one sample per seed."""
    lines = ["shape " + " ".join(str(side) for side in shape)]
    for seed in seeds:
        lines.append(f"couplings  # splitmix64, seed {seed}")
        values = couplings(shape, seed)
        lines += [" ".join(str(v) for v in values[i:i + len(shape)])
                  for i in range(0, len(values), len(shape))]
    return "\n".join(lines) + "\n"
