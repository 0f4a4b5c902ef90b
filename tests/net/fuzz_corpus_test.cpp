// The kept inputs of this room's fuzz targets through the targets themselves, without libFuzzer; and their neighbours.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/target_frame_stream.h"
#include "tests/fuzz/target_http.h"
#include "tests/paths.h"

namespace witan::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*run)(std::string_view);
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

class NetFuzzCorpus : public ::testing::TestWithParam<Target> {};

TEST_P(NetFuzzCorpus, EveryKeptInputAndItsNeighboursPass) {
  std::size_t files = 0;
  for (const auto& file :
       fs::directory_iterator(fs::path(witan::tests::kSourceDir) / "tests" / "fuzz" / "corpus" / GetParam().name)) {
    SCOPED_TRACE(file.path().filename().string());
    std::ifstream in(file.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    GetParam().run(text);
    ++files;
    const std::size_t step = 1 + text.size() / 64;
    for (std::size_t at = 0; at < text.size(); at += step) {
      GetParam().run(std::string_view(text).substr(0, at));
      for (const char flip : {'\x55', '\x20', '\x01'}) {
        text[at] = static_cast<char>(text[at] ^ flip);
        GetParam().run(text);
        text[at] = static_cast<char>(text[at] ^ flip);
      }
    }
  }
  EXPECT_GT(files, 3u);
}

INSTANTIATE_TEST_SUITE_P(Targets, NetFuzzCorpus,
                         ::testing::Values(Target{"frame_stream", witan::fuzz::fuzzFrameStream},
                                           Target{"http_request", witan::fuzz::fuzzHttpRequest},
                                           Target{"http_response", witan::fuzz::fuzzHttpResponse},
                                           Target{"http_text", witan::fuzz::fuzzHttpText}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace witan::fuzz_corpus_test
