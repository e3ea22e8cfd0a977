# Read by CPack when it makes a package: the packages that a Debian package depends on are those of the libraries that
# the program is linked with. Modules for an MPI or NCCL are opened where these are in use, so that their libraries are
# suggestions only.

# gpumc_packages_of(VARIABLE FILE...): the packages with the libraries of the files, "libc6 (>= 2.35), ...".
function(gpumc_packages_of variable)
  set(folder ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
  file(WRITE ${folder}/debian/control "Source: gpumc\nPackage: gpumc\nArchitecture: any\n")
  list(TRANSFORM ARGN PREPEND -e OUTPUT_VARIABLE options)
  execute_process(COMMAND dpkg-shlibdeps -O --ignore-missing-info ${options} WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE found ERROR_VARIABLE messages RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REMOVE_RECURSE ${folder})
  if(failed)
    message(FATAL_ERROR "dpkg-shlibdeps, which finds the packages of libraries: ${messages}")
  endif()
  string(REGEX REPLACE "^shlibs:Depends=" "" found "${found}")
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  gpumc_packages_of(CPACK_DEBIAN_PACKAGE_DEPENDS ${CPACK_GPUMC_PROGRAM})
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", python3:any")
  if(CPACK_GPUMC_MODULES)
    gpumc_packages_of(all ${CPACK_GPUMC_MODULES})
    string(REPLACE ", " ";" all "${all}")
    list(FILTER all EXCLUDE REGEX "^libc6 ")
    list(JOIN all ", " all)
    string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", ${all}")
  endif()
endif()
