# What the provenance of a result says about the program: version, commit, compilers. Looked up at
# every build, since commits come without a new configuration.
find_package(Git QUIET)
set(GPUMC_GIT "")
if(Git_FOUND)
  set(GPUMC_GIT ${GIT_EXECUTABLE})
endif()
add_custom_target(gpumc_build_info
  COMMAND ${CMAKE_COMMAND}
    -DHEADER=${CMAKE_CURRENT_BINARY_DIR}/generated/build_info.h
    -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
    -DGIT=${GPUMC_GIT}
    -DVERSION=${PROJECT_VERSION}
    "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
    -DCUDA_TOOLKIT=${gpumc_cuda_toolkit}
    -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/generated/build_info.h
  COMMENT "Looking up the commit"
  VERBATIM)
add_dependencies(gpumc gpumc_build_info)
