// Makes a fuzz target the entry point of libFuzzer. The targets are headers (target_*.h), so that the tests run the
// kept corpus through the same functions without libFuzzer (tests/node/fuzz_corpus_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#define WITAN_FUZZ_TARGET(function)                                                     \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {   \
    witan::fuzz::function(std::string_view(reinterpret_cast<const char*>(data), size)); \
    return 0;                                                                           \
  }
