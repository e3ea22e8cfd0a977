# The program, its tools and documents; the library with the headers that a program needs to read
# configurations, run tasks and read results, and gpumc.pc for its compiler's options. A wheel has the components `program`
# and `plugins`, everything else all.
install(TARGETS gpumc_program COMPONENT program)
install(TARGETS gpumc COMPONENT library)
if(gpumc_modules)
  install(TARGETS ${gpumc_modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpumc COMPONENT program)
endif()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME plugins)
install(DIRECTORY src/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpumc
  FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)

# For plugins (docs/adding-a-model.md): what kernels of lattice models share, the source that makes a plugin of a
# folder, the package for find_package(gpumc), and the folder where plugins of all users are.
install(DIRECTORY src/models/lattice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpumc/models
  FILES_MATCHING PATTERN "*.h")
install(FILES src/plugin/layout.h src/plugin/layout.def src/plugin/none.def
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpumc/plugin)
install(FILES src/plugin/plugin_entry.c DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/plugin)
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpumc/plugins)
# Modules for the MPI and NCCL of another machine are compiled by its users; `gpumc doctor` has the commands.
install(FILES src/mpi/mpi_module.c src/nccl/nccl_module.c DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/modules)
file(RELATIVE_PATH to_includes /prefix/${CMAKE_INSTALL_LIBDIR}/gpumc /prefix/${CMAKE_INSTALL_INCLUDEDIR}/gpumc)
file(RELATIVE_PATH to_sources /prefix/${CMAKE_INSTALL_LIBDIR}/gpumc /prefix/${CMAKE_INSTALL_DATADIR}/gpumc/modules)
target_compile_definitions(gpumc_program PRIVATE "GPUMC_TO_INCLUDES=\"${to_includes}\"" "GPUMC_TO_MODULE_SOURCES=\"${to_sources}\"")
include(CMakePackageConfigHelpers)
set(config_libraries "")
if(gpumc_with_cuda)
  get_target_property(cuda_runtime CUDA::cudart_static IMPORTED_LOCATION)
  set(config_libraries "${cuda_runtime};stdc++;pthread;rt;")
endif()
set(gpumc_cmake_directory ${CMAKE_INSTALL_LIBDIR}/cmake/gpumc)
set(gpumc_include_directory ${CMAKE_INSTALL_INCLUDEDIR}/gpumc)
set(gpumc_plugin_entry ${CMAKE_INSTALL_DATADIR}/gpumc/plugin/plugin_entry.c)
set(gpumc_program_file ${CMAKE_INSTALL_BINDIR}/gpumc)
set(gpumc_library_file ${CMAKE_INSTALL_LIBDIR}/libgpumc.a)
set(gpumc_plugin_directory ${CMAKE_INSTALL_LIBDIR}/gpumc/plugins)
configure_package_config_file(cmake/gpumc-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gpumc-config.cmake
  INSTALL_DESTINATION ${gpumc_cmake_directory}
  PATH_VARS gpumc_include_directory gpumc_plugin_entry gpumc_program_file gpumc_library_file)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gpumc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpumc-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/gpumc-config-version.cmake cmake/isa_levels.cmake
  DESTINATION ${gpumc_cmake_directory})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(DIRECTORY configs schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME documents)
install(PROGRAMS tools/check-disks tools/compare-papers tools/effective-samples tools/export-gsd tools/plot tools/predict-scaling
  tools/gpumc-python tools/report
  tools/simulate-balance tools/time-pa
  DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools)
install(FILES tools/balance.py tools/balance_model.py tools/called_gpumc.py tools/effective.py tools/interpreter.py tools/other_samplers.py tools/pa_published.py
  tools/pa_timings.py tools/pa_timings_plot.py tools/recorded_populations.py tools/scaling.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools)
install(DIRECTORY tools/paper_figures DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY tools/python DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools
  FILES_MATCHING PATTERN "*.py" PATTERN "pyproject.toml" PATTERN "README.md" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE PATTERN ".*_cache" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE PATTERN "tests" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN conf.py EXCLUDE PATTERN requirements.txt EXCLUDE PATTERN site.css EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
find_program(GPUMC_GZIP gzip)
if(GPUMC_GZIP) # as Debian has it
  execute_process(COMMAND ${GPUMC_GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md
    OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# Manual pages and what shells complete, which the program itself writes when it has been linked.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(manuals_default OFF)
else()
  set(manuals_default ON)
endif()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
option(GPUMC_MANUALS "Man pages and completions, for which the program is run during the build" ${manuals_default})
if(GPUMC_MANUALS)
  set(manuals ${CMAKE_CURRENT_BINARY_DIR}/manuals)
  add_custom_command(TARGET gpumc_program POST_BUILD VERBATIM
    COMMENT "Writing man pages and completions"
    COMMAND gpumc_program man --directory ${manuals}/man
    COMMAND gpumc_program completion bash --output ${manuals}/completions/gpumc
    COMMAND gpumc_program completion zsh --output ${manuals}/completions/_gpumc
    COMMAND gpumc_program completion fish --output ${manuals}/completions/gpumc.fish)
  install(DIRECTORY ${manuals}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${manuals}/completions/gpumc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manuals}/completions/_gpumc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${manuals}/completions/gpumc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME plugins)
# The library is static, so whoever links it links what it needs. The prefix is found from where
# gpumc.pc is: `cmake --install --prefix` may put it anywhere.
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_directory} /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_includes ${HDF5_INCLUDE_DIRS} ${RANDOM123_INCLUDE_DIR})
if(GPUMC_BUNDLE)
  set(pc_includes "\${includedir}/gpumc/third-party")
endif()
list(REMOVE_ITEM pc_includes /usr/include)
list(REMOVE_DUPLICATES pc_includes)
list(TRANSFORM pc_includes PREPEND -I)
set(pc_libraries ${HDF5_C_HL_LIBRARIES} ${HDF5_C_LIBRARIES} ${OpenMP_C_FLAGS} -ldl -lm)
list(REMOVE_DUPLICATES pc_libraries)
if(gpumc_with_cuda)
  get_target_property(cuda_runtime CUDA::cudart_static IMPORTED_LOCATION)
  list(APPEND pc_libraries ${cuda_runtime} -lstdc++ -lpthread -lrt)
endif()
if(GPUMC_SANITIZE)
  list(APPEND pc_libraries -fsanitize=${GPUMC_SANITIZE})
endif()
set(pc_isa "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(pc_isa -DGPUMC_ISA_X86_64)
endif()
list(JOIN pc_includes " " pc_includes)
list(JOIN pc_libraries " " pc_libraries)
set(pc_requires "yaml-0.1 libcjson zlib")
set(pc_libraries "-L\${libdir} -lgpumc ${pc_libraries}")
if(GPUMC_BUNDLE) # plugins only
  set(pc_requires "")
  set(pc_libraries "")
endif()
configure_file(cmake/gpumc.pc.in gpumc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpumc.pc DESTINATION ${pc_directory})
