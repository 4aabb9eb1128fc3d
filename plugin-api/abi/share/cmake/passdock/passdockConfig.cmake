# passdock::passdock, the headers for plugins in C11 and C++17, and passdock_add_plugin.
include_guard(GLOBAL)

# The directory of this file is share/cmake/passdock of the prefix.
get_filename_component(_passdock_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(passdock::passdock INTERFACE IMPORTED GLOBAL)
target_include_directories(passdock::passdock INTERFACE "${_passdock_prefix}/include")
unset(_passdock_prefix)

# A standard may be required only of an enabled language.
get_property(_passdock_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("C" IN_LIST _passdock_languages)
  target_compile_features(passdock::passdock INTERFACE c_std_11)
endif()
if("CXX" IN_LIST _passdock_languages)
  target_compile_features(passdock::passdock INTERFACE cxx_std_17)
endif()
unset(_passdock_languages)

# Adds a plugin, a library that passdock loads: passdock_add_plugin(NAME SOURCE... plugin.toml). Its file is libNAME.so,
# libNAME.dylib or NAME.dll. Its functions are hidden, except the entry function. After each build, PASSDOCK_PROGRAM
# checks whether the manifest is valid and matches the code, by default the `passdock` in PATH if there is one.
function(passdock_add_plugin name)
  set(type MODULE)
  if(APPLE)
    # A module would be a bundle, which passdock rejects.
    set(type SHARED)
  endif()
  add_library(${name} ${type} ${ARGN})
  target_link_libraries(${name} PRIVATE passdock::passdock)
  # A source includes the manifest through the assembler, which reports no dependencies.
  set(manifest ${ARGN})
  list(FILTER manifest INCLUDE REGEX "\\.toml$")
  if(manifest)
    get_filename_component(manifest "${manifest}" ABSOLUTE)
    get_filename_component(directory "${manifest}" DIRECTORY)
    target_compile_definitions(${name} PRIVATE "PASSDOCK_MANIFEST_DIR=\"${directory}/\"")
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS "${manifest}")
  endif()
  find_program(PASSDOCK_PROGRAM passdock)
  if(PASSDOCK_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND "${PASSDOCK_PROGRAM}" plugin check --only manifest "$<TARGET_FILE:${name}>")
  endif()
  set_target_properties(${name} PROPERTIES
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(WIN32)
    set_target_properties(${name} PROPERTIES PREFIX "")
  endif()
  if(UNIX AND NOT APPLE)
    # A function that no library has is an error here, not when the plugin is loaded.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(MINGW)
    # The compiler's libraries may be missing where the plugin runs.
    target_link_options(${name} PRIVATE -static)
  endif()
endfunction()
