# Tests that take minutes; everything else is quick. The main job takes half a minute on two cores, but
# many with sanitizers.
set(validate_tests resume_test_resume_200_kills)
if(GPUMC_SANITIZE)
  list(APPEND validate_tests statistical_test_main_job)
endif()
