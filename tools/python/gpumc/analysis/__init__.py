"""Critical points, exponents and comparisons from results of gpumc."""
