// The vectors of this folder, one JSON object a line.
#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/graph/document.h"
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

inline json::array idsOf(const std::vector<Finding>& findings) {
  std::set<std::string> ids;
  for (const Finding& finding : findings) ids.insert(finding.id);
  json::array list;
  for (const std::string& id : ids) list.emplace_back(id);
  return list;
}

}  // namespace witan::graph::tests
