# What plugins may call (docs/adding-a-model.md, "Outside the tree"): the functions and objects that the installed
# headers declare, and no more. The program has all of the library, used by itself or not, and the linker adds the
# names to its dynamic symbols, with the number of the plugins' ABI as their version.
file(STRINGS src/core/plugins/plugin.h line REGEX "GPUMC_PLUGIN_ABI = [0-9]+")
string(REGEX REPLACE ".*GPUMC_PLUGIN_ABI = ([0-9]+).*" "\\1" gpumc_plugin_abi "${line}")

file(GLOB_RECURSE headers CONFIGURE_DEPENDS src/core/*.h src/models/lattice/*.h)
list(FILTER headers EXCLUDE REGEX "_internal\\.h$")
if(GPUMC_BUNDLE)
  list(APPEND headers ${GPUMC_BUNDLE}/include/cjson/cJSON.h)
endif()
set(list ${CMAKE_CURRENT_BINARY_DIR}/generated/exports.list)
set(versions ${CMAKE_CURRENT_BINARY_DIR}/generated/exports.versions)
add_custom_command(OUTPUT ${list} ${versions}
  COMMAND ${CMAKE_COMMAND} "-DHEADERS=${headers}" -DLIST=${list} -DVERSIONS=${versions} -DABI=${gpumc_plugin_abi}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_exports.cmake
  DEPENDS ${headers} cmake/write_exports.cmake
  COMMENT "Listing what plugins may call"
  VERBATIM)
add_custom_target(gpumc_exports DEPENDS ${list} ${versions})

# Some linkers want to hear that not every name in the script is a symbol.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,--undefined-version gpumc_linker_asks)
set(gpumc_export_options "")
if(gpumc_linker_asks)
  set(gpumc_export_options -Wl,--undefined-version)
endif()

# gpumc_link_for_plugins(PROGRAM): link it with the whole library, these names visible to plugins.
function(gpumc_link_for_plugins program)
  add_dependencies(${program} gpumc_exports)
  target_link_libraries(${program} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,gpumc>)
  target_link_options(${program} PRIVATE ${gpumc_export_options}
    -Wl,--dynamic-list=${CMAKE_CURRENT_BINARY_DIR}/generated/exports.list
    -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/generated/exports.versions)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS
    ${CMAKE_CURRENT_BINARY_DIR}/generated/exports.list)
endfunction()
