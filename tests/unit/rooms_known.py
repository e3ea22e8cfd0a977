"""What currently breaks the rules of test_rooms.py. Only remove lines and lower numbers, never the reverse."""
KNOWN = {
    "includes": {
    },
    "objects": {
    },
    "words": {
        "core/numerics/random.h: resample": 1,
    },
    "folders": {
    },
}
