"""What breaks the rules of test_rooms.py today. Remove lines and lower numbers, never the reverse."""
KNOWN = {
    "includes": {
    },
    "objects": {
    },
    "words": {
        "core/numerics/random.h: resample": 1,
        "core/simulation/kernel.h: bond": 1,
        "core/simulation/kernel.h: overlap": 10,
        "core/simulation/kernel.h: spin": 2,
        "core/simulation/model.h: overlap": 2,
        "core/simulation/registry.c: overlap": 1,
        "core/simulation/registry.c: resample": 1,
        "core/statistics/estimate.h: family": 1,
        "core/statistics/estimate.h: population": 1,
        "core/statistics/multi_histogram.c: family": 1,
        "core/statistics/series_estimate.c: ising": 1,
    },
    "folders": {
    },
}
