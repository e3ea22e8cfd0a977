"""Values of M. Weigel, J. Comput. Phys. 231, 3064 (2012), and Barash et al., Comput. Phys. Commun. 220, 341
(2017), and Gross et al., Comput. Phys. Commun. 224, 387 (2018), that gpumc's campaigns are set beside. Timings of the
second are in pa_published. Hard disks are those of Anderson et al., J. Comput. Phys. 254, 27 (2013)."""

# Weigel, table 1, on the GPU: 2D Ising, L = 1024, beta = 0.4. By generator (the names of
# kernel.generator) the energy as -e and the specific heat, each with its error in the last digits and
# behind it the deviation from exact in errors. The two Fibonacci generators are taken in the order of
# their lags.
WEIGEL_TABLE_1_LENGTH = 1024
WEIGEL_TABLE_1 = {
    "lcg32": ("1.0944121(14)", -8259.05, "0.80316(48)", -121.05),
    "lcg32_random": ("1.1060775(18)", -0.97, "0.86175(56)", 0.09),
    "lcg64": ("1.1061058(19)", 13.72, "0.86179(67)", 0.14),
    "lcg64_random": ("1.1060803(18)", 0.62, "0.86215(63)", 0.71),
    "lagged_fibonacci_521": ("1.1060890(15)", 6.43, "0.86099(66)", -1.09),
    "lagged_fibonacci_1279": ("1.1060800(19)", 0.40, "0.86084(53)", -1.64),
}

# Weigel, the table of section 4: Metropolis updates of the Heisenberg model, ns a flip, by the names of our kernels (a
# Tesla C1060, a GTX 480; on the CPU, an Intel Q9650, either precision takes 183.16 ns).
WEIGEL_HEISENBERG_TIMES = {"float": (0.74, 0.50), "fast": (0.30, 0.18), "double": (4.66, 1.94)}

# Barash et al., table 1, last section: p = 32 replicas a word, each with a number of its own, as in
# gpumc's multispin: variance of the specific heat over that of single-spin coding.
BARASH_VARIANCE_RATIO = 1.0
BARASH_TABLE_1_LENGTH = 128

# Gross et al., section 3 and appendix A, from the text; other values are in curves only. Times per spin flip in ns, at
# the number of walkers that fills each card; speedups are over a node of two Xeon E5-2640, 12 cores, with 24 walkers.
GROSS_CPU_WALKERS = 24
GROSS_CPU_TIME = 3.3
GROSS_WALKERS = {"Tesla K20m": 26624, "GTX Titan Black": 30720}
GROSS_TIMES = {"Tesla K20m": 0.245, "GTX Titan Black": 0.165}  # the middle of 0.22 to 0.27 and of 0.16 to 0.17
GROSS_SPEEDUPS = {"Tesla K20m": 20, "GTX Titan Black": 25}
GROSS_MARKS = {"Tesla K20m": "s", "GTX Titan Black": "D"}
GROSS_DIVERGENCE, GROSS_CHEBYSHEV = 1e-4, 0.05  # below which weights are converged
GROSS_THERMALIZATION_LENGTH = 32
# The paper's program on an H200 with its best number of walkers, as we ran it: seconds to converge, by L.
CUDAMUCA_TIMES = {8: 0.08, 16: 0.71, 32: 5.5, 64: 52.5}

# Anderson et al., table 2 (their own rows), by the number of disks and the packing fraction: P* and its error. Their errors
# are two standard errors; those here are one.
ANDERSON_TABLE_2 = {
    256 ** 2: {0.698: (9.1709, 0.5e-4), 0.702: (9.1920, 1e-4), 0.706: (9.1854, 0.5e-4), 0.710: (9.1792, 0.5e-4),
               0.714: (9.1758, 0.5e-4), 0.718: (9.187, 5e-4)},
    512 ** 2: {0.698: (9.1699, 2.5e-4), 0.702: (9.1900, 1e-4), 0.706: (9.1861, 0.5e-4), 0.710: (9.1828, 0.5e-4),
               0.714: (9.1800, 0.5e-4), 0.718: (9.1930, 2e-4)},
    1024 ** 2: {0.698: (9.16934, 0.2e-4), 0.702: (9.1882, 1.5e-4), 0.706: (9.1859, 1.5e-4), 0.710: (9.1842, 1.5e-4),
                0.714: (9.1819, 2e-4), 0.718: (9.1951, 2e-4)},
}
# Table 1, N = 256^2, colours in random order: by whether the disks of a cell are shuffled and by the packing fraction.
ANDERSON_TABLE_1_DISKS = 256 ** 2
ANDERSON_TABLE_1 = {
    True: {0.698: (9.17079, 0.25e-4), 0.708: (9.18214, 0.3e-4), 0.716: (9.1774, 1e-4)},
    False: {0.698: (9.1716, 0.5e-4), 0.708: (9.1876, 1e-4), 0.716: (9.1831, 1.5e-4)},
}
# Table 4 (figure 4): trial moves a second by the number of disks, phi = 0.698.
ANDERSON_RATES = {
    "Tesla K20": {253 ** 2: 6.23e8, 760 ** 2: 9.83e8, 1520 ** 2: 1.09e9, 3040 ** 2: 1.09e9},
    "Xeon E5540, 8 cores": {253 ** 2: 5.77e7, 760 ** 2: 5.78e7, 1520 ** 2: 5.42e7, 3040 ** 2: 5.26e7},
    "Xeon E5540, 1 core": {253 ** 2: 7.54e6, 760 ** 2: 7.33e6, 1520 ** 2: 7.33e6, 3040 ** 2: 7.35e6},
}

NOTES = {
    "weigel2012": "Weigel (2012): table 1, on the GPU; what the paper has no number for is -. In brackets deviations "
                  "from exact in errors; they grow with the length of a run, so that short ones (--quick) do "
                  "not show what is wrong with a generator. Times of Heisenberg spins are those of its GTX 480; of drifts it "
                  "has a figure only.",
    "barash2017": "Barash et al. (2017): table 1 for the ratio of variances, exact values of our own finite "
                  "lattice (Kaufman); what the paper has no number for is -; timings beside its tables 2 to 4 "
                  "by tools/time-pa.",
    "gross2018": "Gross et al. (2018): values from its text, since most figures show curves only; for these the column "
                 "says in words what the paper reports, or -. Where --quick iterates to convergence, the "
                 "divergence is ten times as large as the paper's.",
    "anderson2013": "Anderson et al. (2013): tables 1, 2 and 4. Brackets are one standard error, for the paper too, which "
                    "prints two. What the paper has no number for is -. A loop is the deeper the fewer the disks: pressures "
                    "of small systems (--quick) are not the paper's.",
}
