# The version is that of the plugin ABI. Newer minor versions are compatible.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/passdock/record.h" _passdock_lines
  REGEX "^#define PASSDOCK_ABI_(MAJOR|MINOR) ")
string(REGEX REPLACE ".*_MAJOR ([0-9]+).*_MINOR ([0-9]+).*" "\\1.\\2" PACKAGE_VERSION "${_passdock_lines}")
unset(_passdock_lines)
string(REGEX REPLACE "\\..*" "" _passdock_major "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION_MAJOR EQUAL _passdock_major AND PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
unset(_passdock_major)
