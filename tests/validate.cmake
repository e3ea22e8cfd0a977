# Tests that take minutes; everything else is quick. With sanitizers, those that judge numbers and
# take long for it are among them: the code that they run is that of the other tests.
set(validate_tests resume_test_resume_200_kills)
if(GPUMC_SANITIZE)
  list(APPEND validate_tests
    exact_test_canonical_disorder
    exact_test_disorder_small
    exact_test_ising_operations
    exact_test_pt_ea
    exact_test_pt_small
    statistical_test_canonical_errors
    statistical_test_main_job
    statistical_test_pt_errors
    statistical_test_series_errors
    statistical_test_tiled_generators)
endif()
