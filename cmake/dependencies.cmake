# libyaml, HDF5, zlib, cJSON, Random123, OpenMP, and CUDA's runtime where the build has CUDA: one interface
# target.
# GPUMC_BUNDLE: a folder with static libraries, from which nothing else than the C library is taken from the system, and with
# what is installed next to the program for it: include, libexec/libgomp.so.1 and licences (tools/packaging/wheel makes it).
set(GPUMC_BUNDLE "" CACHE PATH "Folder with static libraries, headers and licences to build a program with that needs no packages")
if(GPUMC_BUNDLE)
  list(PREPEND CMAKE_PREFIX_PATH ${GPUMC_BUNDLE})
  set(ENV{PKG_CONFIG_LIBDIR} ${GPUMC_BUNDLE}/lib/pkgconfig)
  set(HDF5_ROOT ${GPUMC_BUNDLE})
  set(HDF5_USE_STATIC_LIBRARIES ON)
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(cjson REQUIRED IMPORTED_TARGET libcjson)
# H5Dwrite_chunk came with 1.10.3.
find_package(HDF5 1.10.3 REQUIRED COMPONENTS C HL)
find_package(ZLIB REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

add_library(gpumc_dependencies INTERFACE)
target_include_directories(gpumc_dependencies SYSTEM INTERFACE
  ${HDF5_INCLUDE_DIRS} ${RANDOM123_INCLUDE_DIR})
target_compile_definitions(gpumc_dependencies INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(gpumc_dependencies INTERFACE
  PkgConfig::yaml PkgConfig::cjson ${HDF5_C_LIBRARIES} ${HDF5_C_HL_LIBRARIES} ZLIB::ZLIB OpenMP::OpenMP_C
  ${CMAKE_DL_LIBS} m)
# The static runtime: the program starts, and says what is missing, where there is no CUDA.
if(gpumc_with_cuda)
  target_link_libraries(gpumc_dependencies INTERFACE CUDA::cudart_static)
endif()
