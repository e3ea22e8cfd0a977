# Packages by CPack: `cpack -G DEB` in the build folder makes gpumc_VERSION_ARCHITECTURE.deb, `cpack -G TGZ` an archive.
# What the program needs is found in its libraries (dpkg-shlibdeps); what the tools need is recommended, and suggested what
# those need who compile plugins, or start several processes.
set(CPACK_PACKAGE_NAME gpumc)
set(CPACK_PACKAGE_VENDOR "The gpumc developers")
set(GPUMC_PACKAGE_CONTACT "The gpumc developers <gpumc@localhost>" CACHE STRING "Whoever makes packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT "${GPUMC_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Monte Carlo simulations for statistical physics")
set(CPACK_PACKAGE_DESCRIPTION
"gpumc runs Monte Carlo simulations of lattice and particle models from one
configuration file: population annealing, parallel tempering, multicanonical
sampling and averages at fixed temperatures, on CPUs and GPUs, with results in
HDF5, error bars, and runs that survive being stopped.
.
This package has the program, its library and headers for plugins, the schema
of configurations, documents, examples and tools.")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_INSTALL_DIRECTORY gpumc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Depends and Suggests are found when a package is made, from the program and its modules.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/package_depends.cmake)
set(CPACK_GPUMC_PROGRAM ${CMAKE_CURRENT_BINARY_DIR}/gpumc)
set(CPACK_GPUMC_MODULES "")
foreach(module IN LISTS gpumc_modules)
  list(APPEND CPACK_GPUMC_MODULES ${CMAKE_BINARY_DIR}/${module}.so)
endforeach()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "python3-numpy, python3-h5py, python3-matplotlib")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "gcc, cmake, pkgconf | pkg-config, libhdf5-dev, libcjson-dev, libyaml-dev, zlib1g-dev, librandom123-dev, openmpi-bin | mpich, python3-xarray")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
