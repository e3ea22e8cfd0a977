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
  exact_test_hard_disks_bits
  exact_test_ising2d_histogram
  exact_test_ising_bits
  exact_test_kaufman)

# Tests that take minutes; everything else is quick. With sanitizers, those that judge numbers and
# take long for it are among them, and those of the Python tools: the code of C that they run is that of other
# tests, which are named.
set(validate_tests
  # Calibrations by hundreds of runs each; what they calibrate is run by the tests named.
  statistical_test_crossing_coverage  # cli_test_transition
  statistical_test_crossing_errors    # cli_test_transition
  statistical_test_collapse_coverage  # cli_test_critical
  statistical_test_critical_coverage  # statistical_test_critical_campaigns, cli_test_critical
  statistical_test_quotients_coverage  # cli_test_critical
  statistical_test_reweighting_errors  # cli_test_critical
  statistical_test_ising_critical     # cli_test_critical
  statistical_test_pt_equilibrium     # exact_test_pt_ea, unit_test_pt
  statistical_test_pt_errors          # exact_test_pt_small, exact_test_pt_ea
  cli_test_compare_papers             # cli_test_configs
  cli_test_examples_copied            # cli_test_examples
  cli_test_simulate_balance           # statistical_test_packed_energy; a tool of Python alone
  cli_test_time_pa                    # cli_test_bench, cli_test_configs
  cli_test_docs_pictures_drawn        # cli_test_pictures, cli_test_docs_pictures
  resume_test_hundred_kills           # resume_test_resume_processes
  resume_test_two_mounts              # resume_test_killed_beside
  resume_test_slurm                   # cli_test_submit; time limits on a busy machine are not those of a test
  exact_test_ergodicity               # exact_test_pt_ea, cli_test_couplings
  exact_test_heisenberg_angles        # unit_test_heisenberg_moves
  exact_test_heisenberg_rings_long    # exact_test_heisenberg_rings
  exact_test_hard_disks_long          # exact_test_hard_disks_bits; on a GPU, where it takes seconds, it is quick
  exact_test_hard_disks_volume        # exact_test_hard_disks_pressure, resume_test_resume_hard_disks
  statistical_test_hard_disks_tune    # cli_test_hard_disks_keys, resume_test_resume_hard_disks
  statistical_test_compare            # cli_test_compare
  statistical_test_verdict_rates      # the table of docs/statistics.md, a few runs of each cell
  statistical_test_merge_runs         # a few runs of each kind: cli_test_merge_pt, cli_test_merge_seeds
  statistical_test_hard_disks_dense   # exact_test_hard_disks
  statistical_test_hard_disks_dilute  # exact_test_hard_disks, exact_test_hard_disks_measured
  statistical_test_hard_disks_pressure_coverage  # exact_test_hard_disks_extrapolation
  statistical_test_hard_disks_trust   # statistical_test_canonical_trust, exact_test_hard_disks_measured
  statistical_test_hard_disks_virial  # exact_test_hard_disks
  statistical_test_heisenberg_critical  # exact_test_heisenberg_rings, cli_test_transition
  exact_test_heisenberg_rings_long_cuda  # exact_test_heisenberg_rings_cuda
  statistical_test_hard_disks_dense_cuda
  statistical_test_hard_disks_dilute_cuda
  statistical_test_hard_disks_virial_cuda
  statistical_test_heisenberg_critical_cuda
  statistical_test_main_job           # a shorter job with the same gates and a control: statistical_test_first_example
  statistical_test_muca_errors        # gates and controls on smaller lattices: exact_test_muca_small
  statistical_test_muca_large
  statistical_test_tiled_generator_lcg64)  # on a GPU, where it takes seconds, it is quick
if(GPUMC_SANITIZE)
  list(APPEND validate_tests
    cli_test_critical               # a tool of Python alone
    cli_test_damaged_in_python      # cli_test_damaged_results, resume_test_damaged_working_files
    cli_test_docs_python            # a tool of Python alone
    cli_test_effective_samples      # a tool of Python alone
    cli_test_hard_disks_tools       # tools of Python; runs of gpumc: cli_test_hard_disks_profiles
    cli_test_package                # cli_test_package of the release build, cli_test_install
    cli_test_pictures               # a tool of Python alone
    cli_test_plot                   # cli_test_configs, cli_test_transition of the release build
    cli_test_plot_options           # a tool of Python alone
    cli_test_python_package         # a tool of Python alone
    cli_test_reader                 # cli_test_damaged_results, unit_test_result_info
    cli_test_report                 # a tool of Python alone, cli_test_reports
    cli_test_same_results           # cli_test_run, cli_test_canonical_keys
    cli_test_site                   # a tool of Python alone
    cli_test_slowing_down           # a tool of Python; runs of gpumc: cli_test_canonical_keys
    cli_test_transition             # cli_test_configs, cli_test_pt_keys
    exact_test_canonical            # cli_test_configs, cli_test_canonical_keys
    exact_test_canonical_disorder
    exact_test_controls_small       # unit_test_controls, cli_test_configs
    exact_test_disorder_small
    exact_test_clusters             # resume_test_resume_clusters, exact_test_ising_clusters
    exact_test_exact_tool           # a tool of Python alone
    exact_test_hard_disks           # exact_test_hard_disks_bits, exact_test_disks_kernels
    exact_test_hard_disks_extrapolation  # unit_test_observables, exact_test_disks_kernels
    exact_test_hard_disks_measured  # cli_test_hard_disks_profiles, exact_test_disks_kernels
    exact_test_hard_disks_pressure  # resume_test_resume_hard_disks
    exact_test_heisenberg_cluster_means  # exact_test_heisenberg_clusters
    exact_test_heisenberg_cold      # exact_test_heisenberg_kernels, exact_test_heisenberg_bits
    exact_test_heisenberg_drift     # exact_test_heisenberg_bits, exact_test_heisenberg_kernels
    exact_test_heisenberg_field     # exact_test_heisenberg_kernels, cli_test_heisenberg_keys
    exact_test_heisenberg_glass     # cli_test_heisenberg_keys, unit_test_heisenberg_quenched
    exact_test_heisenberg_hot
    exact_test_heisenberg_muca      # exact_test_heisenberg_walk, resume_test_resume_heisenberg
    exact_test_heisenberg_rings     # exact_test_heisenberg_kernels, exact_test_heisenberg_clusters
    exact_test_improved_estimators  # exact_test_ising_improved, resume_test_resume_clusters
    exact_test_ising2d_histogram    # one sweep of each kernel: exact_test_ising_bits
    exact_test_ising_cluster_histogram  # a few sweeps of each kind: exact_test_ising_clusters
    exact_test_ising_operations
    exact_test_ising_spin_bits      # exact_test_ising_bits
    exact_test_muca_fields          # unit_test_multiples, resume_test_resume_muca
    exact_test_muca_empty           # resume_test_resume_muca
    exact_test_muca_small           # cli_test_configs, exact_test_muca_start, resume_test_resume_muca
    exact_test_muca_tables          # cli_test_configs, resume_test_resume_muca, unit_test_muca_join
    exact_test_pa_small             # cli_test_configs, cli_test_pa_keys, statistical_test_pa_runs
    exact_test_pt_ea
    exact_test_pt_small
    resume_test_resume_heisenberg   # resume_test_resume_clusters, exact_test_heisenberg_kernels
    statistical_test_canonical_errors
    statistical_test_critical_campaigns  # a tool of Python alone
    statistical_test_diagnostics    # cli_test_heisenberg_keys
    statistical_test_one_phase      # cli_test_canonical_keys
    statistical_test_canonical_rounding
    statistical_test_canonical_trust
    statistical_test_first_example
    statistical_test_muca_streams   # resume_test_resume_muca
    statistical_test_pa_errors      # a few runs of each kind: cli_test_configs
    statistical_test_pa_trust
    statistical_test_packed_energy  # exact_test_ising_bits
    statistical_test_series_errors
    statistical_test_series_times   # a few series: unit_test_series
    statistical_test_tiled_generators)
endif()

# Quick tests that take a share of their cases: one in so many in the release build, one in so many with
# sanitizers (tests/support/share.py). NAME_all, label validate, takes all of them. Numbers that have no factor in
# common with those of shapes, kinds and the like meet each of these.
set(shared_tests
  "cuda_test_disks_emulated            5   1"
  "cuda_test_heisenberg_emulated       3   1"
  "cli_test_configs                    1   5"
  "cli_test_couplings_from_results     1   3"
  "cli_test_damaged_in_python          4   1"
  "cli_test_damaged_results            1   4"
  "cli_test_fuzz_config                2  10"
  "cli_test_fuzz_couplings             2   4"
  "cli_test_fuzz_pairs                 1   4"
  "cli_test_special_files              3   5"
  "cli_test_pt_keys                    1   3"
  "cli_test_run_processes              4   1"
  "exact_test_canonical_disorder       4   1"
  "exact_test_cluster_exchange        13  61"
  "exact_test_controls_small           5   1"
  "exact_test_disorder_small           5   1"
  "exact_test_disks_kernels            3   5"
  "exact_test_hard_disks_pressure      5   1"
  "exact_test_heisenberg_bits         11  11"
  "exact_test_heisenberg_clusters      3   7"
  "exact_test_heisenberg_kernels      17  37"
  "exact_test_heisenberg_walk          1   5"
  "exact_test_ising2d_bits             1   5"
  "exact_test_ising2d_histogram        3   1"
  "exact_test_ising_bits               3   5"
  "exact_test_ising_cluster_histogram 13   1"
  "exact_test_ising_clusters          11  23"
  "exact_test_ising_few                5  11"
  "exact_test_ising_improved           5   7"
  "exact_test_ising_operations         7   1"
  "exact_test_ising_spin_bits          4   1"
  "exact_test_pt_ea                    4   1"
  "resume_test_damaged_working_files   8  16"
  "resume_test_killed_beside           1   3"
  "resume_test_resume                 40  50"
  "resume_test_resume_canonical        1   5"
  "resume_test_resume_clusters         5  12"
  "resume_test_resume_division         4   4"
  "resume_test_resume_hard_disks       4   8"
  "resume_test_resume_heisenberg       4   4"
  "resume_test_resume_muca             5  25"
  "resume_test_resume_processes       16  16"
  "resume_test_resume_pt              50 250"
  "statistical_test_pa_trust           3   1"
  "unit_test_files_in_python           1   5"
  "unit_test_ising_operations          3   5")

# gpumc_share_of(NAME VARIABLE): one in how many cases the test takes, 1: all.
function(gpumc_share_of name variable)
  set(${variable} 1 PARENT_SCOPE)
  if(name IN_LIST validate_tests)
    return()
  endif()
  foreach(line IN LISTS shared_tests)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(GET words 0 test)
    if(test STREQUAL name)
      list(GET words 1 one_in)
      if(GPUMC_SANITIZE)
        list(GET words 2 one_in)
      endif()
      set(${variable} ${one_in} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Tests with more processes than two cores, which wait for each other's messages: CTest runs no other test beside them,
# with which they would take three times as long.
set(crowded_tests
  cli_test_processes
  cli_test_run_division
  cli_test_run_job
  cli_test_run_processes
  resume_test_resume_division
  resume_test_resume_processes)

# The longest of the quick tests, longest first, of both builds together. CTest starts them before all
# others, in a bare clone too, so that none of them runs alone at the end.
set(longest_tests
  cuda_test_disks_emulated
  resume_test_resume_hard_disks
  exact_test_hard_disks_pressure
  resume_test_resume_pt
  cli_test_examples
  resume_test_resume
  cli_test_configs
  exact_test_pt_ea
  cli_test_pt_keys
  resume_test_rows_of_checkpoint
  exact_test_batches
  exact_test_canonical
  exact_test_disorder_small
  statistical_test_pa_errors
  statistical_test_canonical_errors
  exact_test_muca_start
  resume_test_resume_muca
  resume_test_killed_beside
  cli_test_merge_pt
  cli_test_merge_seeds
  cli_test_plot
  cli_test_reports
  cli_test_cells
  exact_test_ising_spin_bits
  exact_test_ising_operations
  exact_test_canonical_disorder
  unit_test_ising_operations
  exact_test_ising_bits
  resume_test_series_log
  statistical_test_canonical_trust
  statistical_test_canonical_rounding)

# gpumc_order_tests(): the order above as CTest's property COST, which only has to decrease.
function(gpumc_order_tests)
  list(LENGTH longest_tests cost)
  foreach(name IN LISTS longest_tests)
    if(NOT TEST ${name} AND name MATCHES "^cuda_")
      continue()  # the build has no CUDA
    elseif(NOT TEST ${name})
      message(FATAL_ERROR "tests/validate.cmake: there is no test ${name}")
    endif()
    math(EXPR above "10000 + ${cost}")  # above all seconds that CTest has measured of others
    set_property(TEST ${name} PROPERTY COST ${above})
    math(EXPR cost "${cost} - 1")
  endforeach()
endfunction()
