// The validator of JSON Schema on the official suite: what compiling a schema and checking a value cost.
// schema_bench FOLDER [ROUNDS]: FOLDER is tests/draft2020-12 of the suite. Beside it: bench/schema_ajv.mjs.
#include <filesystem>
#include <sstream>

#include "base/json_validator.h"
#include "bench/bench_tools.h"

int main(int argc, char** argv) {
  using namespace witan;
  if (argc < 2) return std::fprintf(stderr, "usage: witan_schema_bench FOLDER [ROUNDS]\n"), 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  std::vector<json::value> groups;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    if (file.path().extension() != ".json") continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    json::value all = json::parse(text.str());
    for (json::value& group : all.as_array()) groups.push_back(std::move(group));
  }
  double compiling = 0, checking = 0;
  std::size_t schemas = 0, values = 0, right = 0;
  for (int round = 0; round < rounds; ++round)
    for (const json::value& group : groups) {
      bench::ThreadStopwatch compile;
      const auto schema = JsonValidator::compile(group.at("schema"));
      if (!schema.ok()) continue;
      compiling += compile.seconds(), ++schemas;
      bench::ThreadStopwatch check;
      for (const json::value& one : group.at("tests").as_array())
        right += schema->check(one.at("data")).ok() == one.at("valid").as_bool(), ++values;
      checking += check.seconds();
    }
  std::printf("witan: right %zu, %.2f us a schema, %.3f us a value\n", right / rounds,
              1e6 * compiling / static_cast<double>(schemas), 1e6 * checking / static_cast<double>(values));
  return 0;
}
