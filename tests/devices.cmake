# Tests whose device is a parameter, a second time on a GPU: NAME_cuda. Without a GPU they are
# skipped, with GPUMC_REQUIRE_CUDA=1 they fail. Scripts that compare two devices stand for themselves.
set(device_programs
  unit_test_ising2d
  unit_test_population
  unit_test_population_batch
  exact_test_ising2d_bits
  exact_test_ising2d_histogram)
set(device_scripts
  exact/test_batches
  exact/test_pa_small
  statistical/test_main_job
  statistical/test_pa_errors
  cli/test_configs
  resume/test_resume)
set(two_device_tests
  exact_test_devices_agree
  resume_test_resume_devices)

# Folder, length and environment of the test on the CPU, and what makes it one on a GPU.
function(gpumc_label_device_test name of_cpu)
  get_test_property(${of_cpu} LABELS labels)
  get_test_property(${of_cpu} ENVIRONMENT environment)
  set_tests_properties(${name} PROPERTIES LABELS "${labels};cuda" TIMEOUT 900
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} SKIP_RETURN_CODE 77
    ENVIRONMENT "${environment};GPUMC_TEST_DEVICE=cuda")
endfunction()

if(gpumc_with_cuda)
  foreach(name IN LISTS device_programs)
    add_test(NAME ${name}_cuda COMMAND ${name})
    gpumc_label_device_test(${name}_cuda ${name})
  endforeach()
  foreach(script IN LISTS device_scripts)
    string(REPLACE "/" "_" name ${script})
    add_test(NAME ${name}_cuda COMMAND ${GPUMC_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py)
    gpumc_label_device_test(${name}_cuda ${name})
  endforeach()
endif()

foreach(name IN LISTS two_device_tests)
  set_property(TEST ${name} APPEND PROPERTY LABELS cuda)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
