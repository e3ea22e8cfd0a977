# Modules for MPI, each a file beside the program that `gpumc run` opens where a launcher has started
# several processes (docs/processes.md): gpumc_openmpi.so, gpumc_mpich.so. AUTO builds one for each
# MPI that is there and works; ON stops where there is none. Neither is needed to build the program.
set(GPUMC_MPI AUTO CACHE STRING "MPI: AUTO (each of Open MPI and MPICH that is there), ON or OFF")
set_property(CACHE GPUMC_MPI PROPERTY STRINGS AUTO ON OFF)
set(gpumc_mpi_modules "")
set(gpumc_mpi_found "")

# The folder of modules, from that of the program, where they are installed.
file(RELATIVE_PATH gpumc_module_folder
  /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/gpumc)
set_source_files_properties(src/core/processes/launcher.c PROPERTIES
  COMPILE_DEFINITIONS "GPUMC_MODULE_FOLDER=\"${gpumc_module_folder}\"")

# gpumc_add_mpi(KIND PACKAGE LIBRARY NAME): the module of one MPI, by its pkg-config file.
function(gpumc_add_mpi kind package library name)
  include(CheckCSourceCompiles)
  pkg_check_modules(gpumc_${kind} QUIET ${package})
  if(NOT gpumc_${kind}_FOUND)
    return()
  endif()
  # Of what the file lists only MPI itself: the rest is for static libraries.
  find_library(gpumc_${kind}_library NAMES ${library} HINTS ${gpumc_${kind}_LIBRARY_DIRS})
  set(CMAKE_REQUIRED_INCLUDES ${gpumc_${kind}_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${gpumc_${kind}_library})
  set(CMAKE_REQUIRED_QUIET ON)
  check_c_source_compiles("#include <mpi.h>
    int main(void) { MPI_Request r; return MPI_Ibarrier(MPI_COMM_WORLD, &r); }" gpumc_${kind}_works)
  if(NOT gpumc_${kind}_works)
    message(STATUS "MPI: ${name} ${gpumc_${kind}_VERSION} does not compile here")
    return()
  endif()
  add_library(gpumc_${kind} MODULE src/mpi/mpi_module.c)
  set_target_properties(gpumc_${kind} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(gpumc_${kind} PRIVATE src)
  target_include_directories(gpumc_${kind} SYSTEM PRIVATE ${gpumc_${kind}_INCLUDE_DIRS})
  target_link_libraries(gpumc_${kind} PRIVATE gpumc_options ${gpumc_${kind}_library})
  set(gpumc_mpi_modules ${gpumc_mpi_modules} gpumc_${kind} PARENT_SCOPE)
  set(gpumc_mpi_found ${gpumc_mpi_found} "${name} ${gpumc_${kind}_VERSION}" PARENT_SCOPE)
endfunction()

if(GPUMC_MPI)
  gpumc_add_mpi(openmpi ompi-c mpi "Open MPI")
  gpumc_add_mpi(mpich mpich mpich "MPICH")
endif()
if(gpumc_mpi_modules)
  list(JOIN gpumc_mpi_found ", " found)
  message(STATUS "MPI: ${found}")
elseif(NOT GPUMC_MPI)
  message(STATUS "MPI: none, GPUMC_MPI is OFF")
elseif(GPUMC_MPI STREQUAL "AUTO")
  message(STATUS "MPI: none, pkg-config finds neither ompi-c nor mpich")
else()
  message(FATAL_ERROR "GPUMC_MPI=${GPUMC_MPI}, but pkg-config finds neither ompi-c nor mpich that works")
endif()
