# The module for NCCL, gpumc_nccl.so beside the program, by which several processes move numbers from
# GPU to GPU without the host. AUTO builds it where CUDA and NCCL are; ON stops where they are not.
set(GPUMC_NCCL AUTO CACHE STRING "NCCL between GPUs: AUTO (where it is), ON or OFF")
set_property(CACHE GPUMC_NCCL PROPERTY STRINGS AUTO ON OFF)
set(gpumc_nccl_modules "")
set(gpumc_nccl_minimum 2.17) # the first whose channels can be limited

if(GPUMC_NCCL AND gpumc_with_cuda)
  find_path(gpumc_nccl_include nccl.h)
  find_library(gpumc_nccl_library nccl)
  set(gpumc_nccl_version 0)
  if(gpumc_nccl_include)
    file(STRINGS ${gpumc_nccl_include}/nccl.h lines REGEX "^#define NCCL_(MAJOR|MINOR) [0-9]+")
    string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*" "\\1.\\2" gpumc_nccl_version "${lines}")
  endif()
  if(gpumc_nccl_library AND gpumc_nccl_version VERSION_GREATER_EQUAL ${gpumc_nccl_minimum})
    add_library(gpumc_nccl MODULE src/nccl/nccl_module.c)
    set_target_properties(gpumc_nccl PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    target_include_directories(gpumc_nccl PRIVATE src)
    target_include_directories(gpumc_nccl SYSTEM PRIVATE
      ${gpumc_nccl_include} ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(gpumc_nccl PRIVATE gpumc_options ${gpumc_nccl_library})
    set(gpumc_nccl_modules gpumc_nccl)
  endif()
endif()
if(gpumc_nccl_modules)
  message(STATUS "NCCL: ${gpumc_nccl_library}")
elseif(GPUMC_NCCL AND NOT GPUMC_NCCL STREQUAL "AUTO")
  message(FATAL_ERROR "GPUMC_NCCL=${GPUMC_NCCL}, but there is no CUDA, or no nccl.h of ${gpumc_nccl_minimum} or newer with its library")
else()
  message(STATUS "NCCL: none")
endif()
