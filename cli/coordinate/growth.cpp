#include "cli/coordinate/growth.h"

#include "base/json.h"
#include "cli/coordinate/agent_processes.h"
#include "coordination/coordinate.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

std::string numbered(const char* what, std::size_t i) {
  const std::string digits = std::to_string(i + 1);
  return concat(what, std::string(4 - std::min<std::size_t>(4, digits.size()), '0'), digits);
}

std::string vectorOf(std::size_t agents, const GrowthOptions& options) {
  json::object world, actors;
  json::array authorities, everything;
  for (std::size_t i = 0; i < agents; ++i) {
    world[numbered("resource_", i)] = "free";
    everything.push_back(json::object{{"operation", "WRITE"}, {"target", "STATE:/" + numbered("resource_", i)}});
  }
  for (std::size_t i = 0; i < agents; ++i) {
    const std::string id = numbered("agent_", i), authority = numbered("CUD-", i);
    authorities.push_back(json::object{{"authority_id", authority},
                                       {"commitment", "ALLOW"},
                                       {"created_epoch", 0},
                                       {"holder_agent_id", id},
                                       {"issuer_agent_id", "harness"},
                                       {"scope", everything},
                                       {"status", "ACTIVE"}});
    if (options.program.empty()) {
      actors[id] = json::object{{"strategy", "hash_partition"}};
      continue;
    }
    json::array choices;
    for (std::size_t k = 0; k < agents; ++k)
      choices.push_back(json::object{{"action_type", "WRITE"},
                                     {"declared_scope", json::array{json::value(numbered("resource_", k))}},
                                     {"proposed_delta", json::object{{numbered("resource_", k), "owned_by_" + id}}},
                                     {"authorities_cited", json::array{json::value(authority)}}});
    actors[id] = json::object{{"strategy", "external"}, {"choices", std::move(choices)}};
  }
  return canonicalJson(json::object{{"condition", "growth"},
                                    {"initial_state", std::move(world)},
                                    {"authority_artifacts", std::move(authorities)},
                                    {"communication_enabled", true},
                                    {"max_epochs", options.maxEpochs},
                                    {"agents", std::move(actors)}});
}

}  // namespace

Result<GrowthRow> grow(std::size_t agents, const GrowthOptions& options) {
  WITAN_TRY(setup, readSetup(vectorOf(agents, options)));
  AgentProcesses programs(setup, options.program);
  std::string log;
  const Verdict verdict = coordinate(
      setup, [&](std::string_view piece) { log += piece; }, 0,
      options.program.empty() ? Deciders() : programs.deciders());
  if (programs.error()) return *programs.error();
  GrowthRow row{agents};
  row.terminal = verdict.terminal;
  row.kernel = verdict.kernel;
  WITAN_TRY(told, parseJson(log, {.bytes = log.size(), .depth = 64}));
  for (const json::value& epoch : told.at("epochs").as_array()) {
    std::size_t executed = 0;
    for (const auto& [action, outcome] : epoch.at("outcomes").as_object()) {
      executed += outcome == "EXECUTED";
      row.refusals += outcome == "JOINT_ADMISSIBILITY_FAILURE";
    }
    row.messages += epoch.at("messages").as_array().size();
    if (executed < agents) continue;
    row.coordinatedAt = epoch.at("epoch").to_number<std::uint64_t>() + 1;
    break;
  }
  return row;
}

}  // namespace witan::node
