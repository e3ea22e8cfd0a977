# Tests that take minutes; everything else is quick.
set(validate_tests
  statistical_test_main_job
  CACHE INTERNAL "")
