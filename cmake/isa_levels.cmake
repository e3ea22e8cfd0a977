# The levels of the x86-64 instruction set; installed, for plugins.
# gpumc_add_isa_levels(TARGET SOURCES INCLUDES LIBRARIES): compile SOURCES once for each level into TARGET. A level's
# objects see GPUMC_ISA, the suffix of their external names (v2, v3, v4, portable).
function(gpumc_add_isa_levels target sources includes libraries)
  if(NOT sources)
    return()
  endif()
  get_target_property(kind ${target} TYPE)
  set(scope PRIVATE)
  if(kind STREQUAL STATIC_LIBRARY)
    set(scope PUBLIC)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels v2 v3 v4)
    target_compile_definitions(${target} ${scope} GPUMC_ISA_X86_64)
    if(gpumc_isa_v3_alone)
      set(levels v3)
      target_compile_definitions(${target} ${scope} GPUMC_ISA_V3_ALONE)
    endif()
  else()
    set(levels portable)
  endif()
  if(GPUMC_SANITIZE AND NOT GPUMC_SANITIZE_VECTORS)
    # Unrolled loops with a check at each pointer compile four times as long, and the address
    # sanitizer sees those accesses too; -O1 compiles them in half of the time of -O2. As options of sources they
    # come after -fsanitize.
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS
      "-O1;-fno-sanitize=null,object-size,pointer-overflow,alignment;$<$<C_COMPILER_ID:GNU>:-fno-var-tracking>")
  endif()
  foreach(level IN LISTS levels)
    add_library(${target}_${level} OBJECT ${sources})
    target_link_libraries(${target}_${level} PRIVATE ${libraries})
    target_include_directories(${target}_${level} PRIVATE ${includes})
    target_compile_definitions(${target}_${level} PRIVATE GPUMC_ISA=${level})
    if(NOT level STREQUAL portable)
      target_compile_options(${target}_${level} PRIVATE -march=x86-64-${level})
    endif()
    # Loops over a few vectors stay loops: string instructions take longer to begin.
    target_compile_options(${target}_${level} PRIVATE
      $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${level}>)
  endforeach()
endfunction()
