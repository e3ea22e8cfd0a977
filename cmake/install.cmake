# The program, its tools and documents; the library with the headers that a program needs to read
# configurations, run tasks and read results, and gpumc.pc for its compiler's options.
install(TARGETS gpumc_program gpumc)
if(gpumc_modules)
  install(TARGETS ${gpumc_modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpumc)
endif()
install(DIRECTORY src/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpumc
  FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE)
install(DIRECTORY configs schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc)
install(PROGRAMS tools/check-disks tools/compare-papers tools/export-gsd tools/plot tools/predict-scaling tools/gpumc-python tools/report
  tools/simulate-balance tools/time-pa
  DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools)
install(FILES tools/balance.py tools/balance_model.py tools/interpreter.py tools/pa_published.py
  tools/pa_timings.py tools/pa_timings_plot.py tools/recorded_populations.py tools/scaling.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools)
install(DIRECTORY tools/paper_figures DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY tools/python DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumc/tools
  FILES_MATCHING PATTERN "*.py" PATTERN "pyproject.toml" PATTERN "README.md" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE PATTERN "tests" EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN conf.py EXCLUDE PATTERN requirements.txt EXCLUDE PATTERN site.css EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The library is static, so whoever links it links what it needs. The prefix is found from where
# gpumc.pc is: `cmake --install --prefix` may put it anywhere.
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_directory} /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_includes ${HDF5_INCLUDE_DIRS} ${RANDOM123_INCLUDE_DIR})
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
list(JOIN pc_includes " " pc_includes)
list(JOIN pc_libraries " " pc_libraries)
configure_file(cmake/gpumc.pc.in gpumc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpumc.pc DESTINATION ${pc_directory})
