# Models, kernels and algorithms that stand outside of the tree: folders of sources, with lists of
# what they add, models.def and algorithms.def as those of the tree (docs/adding-a-model.md).
set(GPUMC_PLUGINS "" CACHE STRING "Folders of models and algorithms of your own, separated by ;")

# gpumc_add_plugins(VARIABLE DIRECTORY FOLDER...): the folders' sources to a list of sources, and
# DIRECTORY/plugins/NAME.def, which the registry includes after the tree's own.
function(gpumc_add_plugins variable directory)
  set(sources ${${variable}})
  set(models "")
  set(algorithms "")
  foreach(folder IN LISTS ARGN)
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    if(NOT IS_DIRECTORY ${folder})
      message(FATAL_ERROR "GPUMC_PLUGINS: there is no folder ${folder}")
    endif()
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cu)
    list(APPEND sources ${found})
    foreach(kind models algorithms)
      if(EXISTS ${folder}/${kind}.def)
        file(READ ${folder}/${kind}.def lines)
        string(APPEND ${kind} "${lines}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${kind}.def)
      endif()
    endforeach()
  endforeach()
  foreach(kind models algorithms)
    file(CONFIGURE OUTPUT ${directory}/plugins/${kind}.def
      CONTENT "/* From GPUMC_PLUGINS. */\n${${kind}}" @ONLY)
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
