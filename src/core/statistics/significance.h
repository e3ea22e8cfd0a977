/* Probabilities of deviations by chance, for flags with a stated rate of false alarms. */
#ifndef GPUMC_CORE_SIGNIFICANCE_H
#define GPUMC_CORE_SIGNIFICANCE_H

/* Bounds on false alarms: all comparisons of one kind that a result makes raise one by chance in so
 * many right results, at most. */
#define GPUMC_FALSE_ALARMS 0.01

/* Probability that Student's t with `freedom` degrees of freedom is farther from 0 than t; 0 for an
 * infinite t, 1 for NaN, which is no evidence. */
double gpumc_student_tail(double t, double freedom);
/* Probability that the ratio of two independent estimates of one variance exceeds `ratio`, their
 * degrees of freedom being those of its numerator and its denominator. The same for infinity and
 * NaN. */
double gpumc_fisher_tail(double ratio, double numerator, double denominator);

#endif
