# witan_console(<target>): compiles console/dist into a library, each file compressed, in a table that
# node/console/console_pages.h declares. Needs gzip, which every Debian has, and no Node.
find_program(WITAN_GZIP gzip REQUIRED)
function(witan_console target)
  set(dist ${CMAKE_SOURCE_DIR}/console/dist)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${dist} ${dist}/*)
  list(SORT files)
  set(packed ${CMAKE_BINARY_DIR}/node/console)
  file(MAKE_DIRECTORY ${packed})
  set(blobs "")
  set(rows "")
  set(n 0)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dist}/${file})
    execute_process(COMMAND ${WITAN_GZIP} -9 -n -c ${dist}/${file} OUTPUT_FILE ${packed}/file_${n}.gz COMMAND_ERROR_IS_FATAL ANY)
    file(SHA256 ${packed}/file_${n}.gz hash)
    string(SUBSTRING ${hash} 0 24 tag)
    # The hash in the text makes this file another one when the bytes change: the compiler does not see .incbin.
    string(APPEND blobs "asm(\".section .rodata\\n.global witan_console_${n}\\nwitan_console_${n}:\\n.incbin \\\"${packed}/file_${n}.gz\\\"\\n"
      ".global witan_console_${n}_end\\nwitan_console_${n}_end:\\n.byte 0\\n.text\\n\");  // ${hash}\n"
      "extern \"C\" const char witan_console_${n}[], witan_console_${n}_end[];\n")
    string(APPEND rows "      {\"${file}\", \"\\\"${tag}\\\"\", {witan_console_${n}, static_cast<std::size_t>(witan_console_${n}_end - witan_console_${n})}},\n")
    math(EXPR n "${n} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${packed}/console_files.cpp CONTENT
"// Made by cmake/console.cmake of console/dist.
#include \"node/console/console_pages.h\"

#include <array>

@blobs@
namespace witan::node {

std::span<const ConsoleFile> consoleFiles() {
  static const std::array<ConsoleFile, @n@> files{{
@rows@  }};
  return files;
}

}  // namespace witan::node
" @ONLY)
  target_sources(${target} PRIVATE ${packed}/console_files.cpp)
endfunction()
