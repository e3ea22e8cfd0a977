/* Thresholds are the core's, because exchanges need them as well. */
#include "core/threshold.h"
