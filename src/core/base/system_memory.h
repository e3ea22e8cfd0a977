/* How much memory this process may still take. */
#ifndef GPUMC_CORE_SYSTEM_MEMORY_H
#define GPUMC_CORE_SYSTEM_MEMORY_H

/* Bytes: the least of what the kernel calls available, what the control group leaves and the limit
 * on the address space. Infinity where the system does not tell. */
double gpumc_available_memory(void);

#endif
