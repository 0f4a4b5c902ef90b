// The vectors of this folder, one JSON object a line.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/paths.h"

namespace witan::graph::tests {

inline std::string vectorText(const std::string& name) {
  std::ifstream in(std::string(witan::tests::kSourceDir) + "/tests/graph/vectors/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<json::object> vectorsOf(const std::string& name) {
  std::vector<json::object> all;
  std::istringstream lines(vectorText(name));
  for (std::string line; std::getline(lines, line);) all.push_back(parseJson(line).value().as_object());
  return all;
}

}  // namespace witan::graph::tests
