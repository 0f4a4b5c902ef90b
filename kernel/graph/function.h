// The pure functions of nodes of kind function: identity, pick, filter, switch, split, decrement; collect is the
// runtime's, because it waits for several messages. Pure and total; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/graph/document.h"

namespace witan::graph {

struct Output {
  std::string type;
  json::value body;
};

// Nothing if the body lacks a field that the function reads. Requires: the node is a function, not collect, and passed
// GL01.
std::optional<std::vector<Output>> evaluate(const Node& node, const std::string& type, const json::value& body);

// How a field serves as a key: a text as it is, an integer in decimal digits.
std::string keyText(const json::value& value);

}  // namespace witan::graph
