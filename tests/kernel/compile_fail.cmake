# Files that must not compile, as tests: included by tests/CMakeLists.txt. Each case of compile_fail/slice.cc is compiled
# with -fsyntax-only; case 0 is the control and must compile.
foreach(case RANGE 8)
  add_test(NAME compile_fail.slice.${case}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -DWITAN_CASE=${case} -I${CMAKE_SOURCE_DIR}
            ${CMAKE_SOURCE_DIR}/tests/kernel/compile_fail/slice.cc)
  set_tests_properties(compile_fail.slice.${case} PROPERTIES TIMEOUT 300)
  if(NOT case EQUAL 0)
    set_tests_properties(compile_fail.slice.${case} PROPERTIES
      PASS_REGULAR_EXPRESSION "no matching function|constraints not satisfied|read-only|no matching member")
  endif()
endforeach()
