# Headers, both libraries in both forms, the program, scenes, CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew)
# The studio's page, where it was built (make web).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew OPTIONAL)
install(FILES docs/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew)
install(FILES docs/sinew.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(TARGETS sinew-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sinew sinew-static sinew-tools sinew-tools-static EXPORT sinew-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sinew-targets NAMESPACE sinew:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)

configure_package_config_file(cmake/sinew-config.cmake.in ${PROJECT_BINARY_DIR}/sinew-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinew-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinew-config.cmake ${PROJECT_BINARY_DIR}/sinew-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)

# Relative to the file itself, so that `cmake --install --prefix` and moved folders work.
file(RELATIVE_PATH SNW_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SNW_PC_PREFIX ${SNW_PC_PREFIX})
foreach(name sinew sinew-tools)
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
