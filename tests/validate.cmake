# Of the quick tests, those that a newcomer runs first, beside all of tests/unit (label first): each model, algorithm and
# the program itself, in two minutes of two cores together.
set(first_tests
  cli_test_run
  cli_test_usage
  cli_test_plot
  cli_test_quickstart
  cli_test_transition
  exact_test_exact_tool
  exact_test_exchange
  exact_test_ising2d_histogram
  exact_test_ising_bits
  exact_test_kaufman)

# Tests that take minutes; everything else is quick. With sanitizers, those that judge numbers and
# take long for it are among them: the code that they run is that of the other tests.
set(validate_tests
  resume_test_resume_200_kills
  resume_test_resume_pt_25_kills
  # Calibrations by hundreds of runs each; what they calibrate is run by the tests named.
  statistical_test_crossing_coverage  # cli_test_transition
  statistical_test_crossing_errors    # cli_test_transition
  statistical_test_pt_equilibrium     # exact_test_pt_ea, unit_test_pt
  statistical_test_pt_errors          # exact_test_pt_small, exact_test_pt_ea
  statistical_test_muca_large
  statistical_test_tiled_generator_lcg64)  # on a GPU, where it takes seconds, it is quick
if(GPUMC_SANITIZE)
  list(APPEND validate_tests
    cli_test_compare_papers         # cli_test_configs
    exact_test_canonical            # cli_test_configs, cli_test_canonical_keys
    exact_test_canonical_disorder
    exact_test_controls_small       # unit_test_controls, cli_test_configs
    exact_test_disorder_small
    exact_test_ergodicity           # exact_test_pt_ea of the release build, cli_test_couplings
    exact_test_ising2d_histogram    # one sweep of each kernel: exact_test_ising_bits
    exact_test_ising_operations
    exact_test_ising_spin_bits      # exact_test_ising_bits
    exact_test_pt_ea
    exact_test_pt_small
    statistical_test_canonical_errors
    statistical_test_canonical_rounding
    statistical_test_canonical_trust
    statistical_test_first_example
    statistical_test_main_job
    statistical_test_muca_errors    # runs of each kind: exact_test_muca_small
    statistical_test_pa_errors      # a few runs of each kind: exact_test_pa_small, cli_test_configs
    statistical_test_pa_trust
    statistical_test_packed_energy  # exact_test_ising_bits
    statistical_test_series_errors
    statistical_test_series_times   # a few series: unit_test_series
    statistical_test_tiled_generators)
endif()

# The longest of the quick tests, longest first, of both builds together. CTest starts them before all
# others, in a bare clone too, so that none of them runs alone at the end.
set(longest_tests
  resume_test_resume_pt
  cli_test_fuzz_config
  unit_test_ising_operations
  statistical_test_muca_errors
  resume_test_resume
  resume_test_resume_canonical
  exact_test_disorder_small
  exact_test_ising_bits
  exact_test_pt_ea
  exact_test_canonical_disorder
  cli_test_merge_pt
  statistical_test_canonical_trust
  statistical_test_canonical_rounding
  cli_test_pt_keys
  exact_test_ising_spin_bits
  resume_test_rows_of_checkpoint
  statistical_test_main_job
  exact_test_canonical
  resume_test_killed_beside
  exact_test_ising_operations
  statistical_test_canonical_errors)

# gpumc_order_tests(): the order above as CTest's property COST, which only has to decrease.
function(gpumc_order_tests)
  list(LENGTH longest_tests cost)
  foreach(name IN LISTS longest_tests)
    if(NOT TEST ${name})
      message(FATAL_ERROR "tests/validate.cmake: there is no test ${name}")
    endif()
    math(EXPR above "10000 + ${cost}")  # above all seconds that CTest has measured of others
    set_property(TEST ${name} PROPERTY COST ${above})
    math(EXPR cost "${cost} - 1")
  endforeach()
endfunction()

# Ten kills, and of pt stops after some units, where the label validate has 200, and of pt 25 and one after each. With sanitizers runs take seven times as long: fewer kills, and stops
# not after every short unit.
function(gpumc_shorten_tests)
  if(NOT GPUMC_SANITIZE)
    set_property(TEST resume_test_resume APPEND PROPERTY ENVIRONMENT "GPUMC_KILLS=10")
    set_property(TEST resume_test_resume_pt APPEND PROPERTY ENVIRONMENT
      "GPUMC_KILLS=10;GPUMC_STOP_AFTER=10 ms")
  endif()
  if(GPUMC_SANITIZE)
    set_property(TEST resume_test_resume_pt APPEND PROPERTY ENVIRONMENT
      "GPUMC_KILLS=6;GPUMC_STOP_AFTER=30 ms")
  endif()
endfunction()
