# With GPUMC_BUNDLE (cmake/dependencies.cmake): what the program and plugins need that the system may not have. The OpenMP
# runtime keeps its name, so that the program and its plugins share one.
if(NOT GPUMC_BUNDLE)
  return()
endif()
set_target_properties(gpumc_program PROPERTIES INSTALL_RPATH "$ORIGIN/${gpumc_module_folder}")
install(FILES ${GPUMC_BUNDLE}/libexec/libgomp.so.1 DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpumc COMPONENT program)
install(DIRECTORY ${GPUMC_BUNDLE}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpumc/third-party COMPONENT plugins
  FILES_MATCHING REGEX "/(cJSON|H5[^/]*|hdf5[^/]*)[.]h$" REGEX "/Random123/.*[.]h(pp)?$")
# A wheel has licences next to its metadata.
set(licences ${CMAKE_INSTALL_DOCDIR}/licences)
if(SKBUILD_METADATA_DIR)
  set(licences ${SKBUILD_METADATA_DIR}/licenses/third-party)
endif()
install(DIRECTORY ${GPUMC_BUNDLE}/licences/ DESTINATION ${licences} COMPONENT program)
