# Languages, warnings, sanitizers, and the levels of the x86-64 instruction set.
add_library(gpumc_options INTERFACE)
target_compile_features(gpumc_options INTERFACE c_std_11)
target_compile_definitions(gpumc_options INTERFACE _GNU_SOURCE)
# No fused multiply-add behind our back: the same bits from every compilation (ARCHITECTURE.md).
set(c_options -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno)
# Of C++, -Wextra and -Wshadow are about things that are right in C.
set(cuda_options -fmad=false -Xcompiler=-Wall,-ffp-contract=off)
if(GPUMC_WERROR)
  list(APPEND c_options -Werror)
  list(APPEND cuda_options -Werror=all-warnings -Xcompiler=-Werror)
endif()
if(GPUMC_SANITIZE)
  list(APPEND c_options
    -fsanitize=${GPUMC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gpumc_options INTERFACE -fsanitize=${GPUMC_SANITIZE})
endif()
target_compile_options(gpumc_options INTERFACE "$<$<COMPILE_LANGUAGE:C>:${c_options}>")
if(gpumc_with_cuda)
  target_compile_features(gpumc_options INTERFACE cuda_std_17)
  target_compile_options(gpumc_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
endif()

# gpumc_add_isa_levels(TARGET SOURCES): compile SOURCES once for each level into TARGET. A level's
# objects see GPUMC_ISA, the suffix of their external names (v2, v3, v4, portable).
function(gpumc_add_isa_levels target sources)
  if(NOT sources)
    return()
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels v2 v3 v4)
    target_compile_definitions(${target} PUBLIC GPUMC_ISA_X86_64)
  else()
    set(levels portable)
  endif()
  if(GPUMC_SANITIZE)
    # Unrolled loops with a check at each pointer compile four times as long, and the address
    # sanitizer sees those accesses too. As options of sources they come after -fsanitize.
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS
      "-fno-sanitize=null,object-size,pointer-overflow,alignment;$<$<C_COMPILER_ID:GNU>:-fno-var-tracking>")
  endif()
  foreach(level IN LISTS levels)
    add_library(${target}_${level} OBJECT ${sources})
    target_link_libraries(${target}_${level} PRIVATE gpumc_options gpumc_dependencies)
    target_include_directories(${target}_${level} PRIVATE src)
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
