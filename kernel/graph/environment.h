// What a graph is checked against: the registry of agents, tools, domains and graphs, and the boundaries of the policy.
// A value; pure functions, any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_codec.h"

namespace witan::graph {

struct RegisteredAgent {
  std::string version;
  std::vector<std::string> tools;
  std::string model;
  bool validated = false;  // by an artefact of this version

  WITAN_MEMBERS(RegisteredAgent, version, tools, model, validated)
};

struct RegisteredTool {
  std::string boundary;
  std::vector<std::string> locales;

  WITAN_MEMBERS(RegisteredTool, boundary, locales)
};

struct RegisteredDomain {
  std::vector<std::string> roles;

  WITAN_MEMBERS(RegisteredDomain, roles)
};

struct Environment {
  std::map<std::string, RegisteredAgent> agents;
  std::map<std::string, RegisteredTool> tools;
  std::map<std::string, RegisteredDomain> domains;
  std::map<std::string, std::vector<std::string>> boundaries;  // their operations
  std::map<std::string, json::value> graphs;                   // documents, by "id@version"

  WITAN_MEMBERS(Environment, agents, tools, domains, boundaries, graphs)
};

// JSON of at most 16 MiB. Errors: invalid, with the place.
Result<Environment> parseEnvironment(std::string_view text);

}  // namespace witan::graph
