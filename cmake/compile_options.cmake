# Languages, warnings, sanitizers.
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
