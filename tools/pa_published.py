"""What PAising takes, the program of Barash et al., Comput. Phys. Commun. 220, 341 (2017).

Times per spin flip in ps by (variant, length, population, theta), where the paper's single-spin
coding (SSC) stands beside the variant `spin` and its multi-spin coding (MSC) beside `multispin`.
PAising MSC draws the numbers of the replicas in a word from a linear congruential generator that
Philox seeds; gpumc has Philox throughout.
"""
import math

# PAising on one NVIDIA H200, steps of 0.02 in beta, the whole run.
_H200 = {
    ("multispin", 64, 100000): {1: 6.91, 10: 1.09, 100: 0.479, 500: 0.420},
    ("spin", 64, 50000): {10: 3.71, 100: 3.05},
}

# The paper's table 2: NVIDIA Tesla K80, R = 50000, theta = 500; by length, SSC and MSC.
_TABLE_2 = {16: (94, 9.6), 32: (92, 9.5), 64: (92, 9.8), 128: (97, 9.8), 256: (98, 9.9)}

# The paper's tables 3 and 4: Tesla K80, L = 128; by theta, a column for each population.
_POPULATIONS = (2000, 10000, 50000, 100000)
_TABLE_3 = {
    "spin": {1: (229, 213, 213, 213), 5: (123, 119, 119, 120), 10: (111, 108, 107, 109),
             50: (101, 99.4, 98.5, 98.7), 100: (99.8, 97.6, 97.7, 97.5),
             200: (99.7, 97.2, 97.0, 97.0), 500: (99.1, 97.1, 96.9, 96.9)},
    "multispin": {1: (250.4, 143.9, 144.0, 154.3), 5: (59.6, 37.2, 34.1, 34.1),
                  10: (35.9, 24.0, 23.2, 23.4), 50: (16.8, 13.6, 12.3, 12.1),
                  100: (14.4, 12.3, 11.0, 10.8), 200: (13.2, 11.9, 10.3, 10.1),
                  500: (12.5, 11.8, 9.8, 9.7)},
}
_TABLE_4 = {
    "spin": {1: (39.8, 41.8, 42.2, 42.2), 5: (76.4, 77.9, 78.3, 78.3), 10: (86.6, 87.6, 88.0, 87.9),
             50: (97.0, 97.3, 97.4, 97.3), 100: (98.5, 98.6, 98.7, 98.6),
             200: (99.2, 99.3, 99.3, 99.3), 500: (99.7, 99.7, 99.7, 99.7)},
    "multispin": {1: (5.3, 6.6, 5.9, 5.4), 5: (20.6, 28.7, 25.1, 24.4),
                  10: (33.9, 44.5, 37.3, 35.9), 50: (71.8, 80.0, 75.5, 76.1),
                  100: (83.6, 89.0, 86.7, 86.3), 200: (91.0, 94.1, 93.2, 92.9),
                  500: (96.2, 97.8, 97.3, 97.1)},
}
_TABLE_LENGTH = 128

NOTES = ("PAising on one NVIDIA H200, measured, steps of 0.02 in beta, the whole run",
         "PAising on one Tesla K80, published: tables 2 (R = 50000, theta = 500) and 3 (L = 128)",
         "its share of time in the spin-flip kernel, published: table 4 (L = 128)")


def measured(variant, length, population, theta):
    """ps per spin flip of PAising on an H200; NaN where not measured."""
    return _H200.get((variant, length, population), {}).get(theta, math.nan)


def published(variant, length, population, theta):
    """ps per spin flip of PAising on a Tesla K80, tables 2 and 3; NaN where the paper has none."""
    value = _from_table(_TABLE_3, variant, length, population, theta)
    if math.isnan(value) and population == 50000 and theta == 500 and length in _TABLE_2:
        return dict(zip(("spin", "multispin"), _TABLE_2[length])).get(variant, math.nan)
    return value


def published_sweep_share(variant, length, population, theta):
    """Percent of the time that PAising spends in sweeps on a Tesla K80, table 4; else NaN."""
    return _from_table(_TABLE_4, variant, length, population, theta)


def curves(variant):
    """(label, thetas, ps per spin flip) to draw beside the variant's own."""
    found = [(f"PAising on one H200, L = {length}", list(row), list(row.values()))
             for (name, length, _), row in _H200.items() if name == variant]
    if variant in _TABLE_3:
        column = _POPULATIONS.index(50000)
        found.append((f"PAising on one K80 (published), L = {_TABLE_LENGTH}",
                      list(_TABLE_3[variant]), [row[column] for row in _TABLE_3[variant].values()]))
    return found


def _from_table(table, variant, length, population, theta):
    if length != _TABLE_LENGTH or population not in _POPULATIONS:
        return math.nan
    row = table.get(variant, {}).get(theta)
    return math.nan if row is None else row[_POPULATIONS.index(population)]
