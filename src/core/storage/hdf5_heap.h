/* Whether a piece of an HDF5 file can be handed to the library without danger.
 *
 * All metadata of the newest file format carry checksums but one kind: the global heap, where texts
 * of variable length lie. HDF5 1.10 believes the sizes that stand there, and crashes or spins when
 * they are damaged; so we look first. */
#ifndef GPUMC_CORE_HDF5_HEAP_H
#define GPUMC_CORE_HDF5_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* False when `bytes`, read from one place of a file, are the beginning of a global heap collection
 * whose objects do not fill it exactly, one after the other. True for everything else. Format:
 * "HDF5 File Format Specification", III.E. */
bool gpumc_hdf5_heap_is_sound(const void *bytes, size_t count);

#endif
