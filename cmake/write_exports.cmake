# Writes LIST, a dynamic list for the linker of all names that HEADERS declare, and VERSIONS, the same names with
# the version GPUMC_PLUGIN_<ABI>; cJSON's are there if its header is. Names that are no symbols, of structs and macros, do no
# harm there.
set(names "")
foreach(header IN LISTS HEADERS)
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX MATCHALL "[A-Za-z0-9_]+" words "${text}")
  list(FILTER words INCLUDE REGEX "^((gpumc|lattice)_[a-z0-9_]+|cJSON_[A-Z][A-Za-z0-9]+)$")
  list(APPEND names ${words})
endforeach()
list(SORT names)
list(REMOVE_DUPLICATES names)
list(JOIN names ";\n  " lines)
file(CONFIGURE OUTPUT ${LIST} CONTENT "{\n  ${lines};\n};\n" @ONLY)
file(CONFIGURE OUTPUT ${VERSIONS} CONTENT "GPUMC_PLUGIN_${ABI} {\n global:\n  ${lines};\n};\n" @ONLY)
