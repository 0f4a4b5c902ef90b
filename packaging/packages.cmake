# Install rules, and `cpack -G DEB`: the packages witan (the node) and witan-sim (simulator and laboratory). The programs
# generate their manual pages and completions during the install. Packages create no data: removing one leaves
# /var/lib/witan unchanged.
include(GNUInstallDirs)

install(TARGETS witan RUNTIME COMPONENT witan)
install(TARGETS witan-sim witan-lab RUNTIME COMPONENT witan-sim)
install(FILES packaging/witan.service DESTINATION lib/systemd/system COMPONENT witan)
install(FILES packaging/prometheus/witan-alerts.yml packaging/grafana/witan.json DESTINATION ${CMAKE_INSTALL_DATADIR}/witan
  COMPONENT witan)
install(FILES README.md docs/OPERATIONS.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT witan)

# witan_manual(<program> <component>): installs the program's manual pages.
function(witan_manual program component)
  install(CODE "set(pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${pages}\")
    execute_process(COMMAND $<TARGET_FILE:${program}> manual \"\${pages}\" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB made \"\${pages}/*.1\")
    foreach(page IN LISTS made)
      execute_process(COMMAND gzip -9nf \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT ${component})
endfunction()
witan_manual(witan witan)
# Its page of the noun sim only says who carries it out; witan-sim.1 is the simulator's own.
install(CODE "file(REMOVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/witan-sim.1.gz\")"
  COMPONENT witan)
witan_manual(witan-sim witan-sim)
witan_manual(witan-lab witan-sim)

function(witan_completion shell path)
  install(CODE "set(script \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${path}\")
    get_filename_component(folder \"\${script}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND $<TARGET_FILE:witan> completion ${shell} OUTPUT_FILE \"\${script}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT witan)
endfunction()
witan_completion(bash bash-completion/completions/witan)
witan_completion(zsh zsh/vendor-completions/_witan)
witan_completion(fish fish/vendor_completions.d/witan.fish)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME witan)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Witan engineers <witan@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Local-first agent cluster with decided, provable shared state")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL witan witan-sim)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_WITAN_PACKAGE_NAME witan)
set(CPACK_DEBIAN_WITAN-SIM_PACKAGE_NAME witan-sim)
set(CPACK_DEBIAN_WITAN-SIM_PACKAGE_DEPENDS witan)
set(CPACK_COMPONENT_WITAN_DESCRIPTION "Witan node: one program that a device runs")
set(CPACK_COMPONENT_WITAN-SIM_DESCRIPTION "Witan simulator and laboratory, which witan sim and witan ontology start")
include(CPack)
