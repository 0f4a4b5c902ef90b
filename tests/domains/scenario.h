// Scenarios as events for a partition: the lines that domains ship, and those of a checkout's neighbours when present.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "domains/registry.h"
#include "tests/kernel/history.h"

namespace witan::domains::test {

using namespace kernel;
using kernel::test::objectOf;
using kernel::test::Step;

struct ScenarioLine {
  Step event;
  std::string expect;
};

inline std::string member(const json::object& line, std::string_view name) {
  const json::value* v = line.if_contains(name);
  return v == nullptr || !v->is_string() ? std::string() : std::string(v->get_string());
}

inline ScenarioLine scenarioLine(const json::object& line, std::size_t number) {
  ScenarioLine out;
  Step& e = out.event;
  out.expect = member(line, "expect");
  e.entity = member(line, "entity");
  e.at = parseTime(member(line, "at")).value();
  e.operationId = member(line, "operationId");
  if (e.operationId.empty()) e.operationId = "line-" + std::to_string(number);
  if (const json::value* init = line.if_contains("init")) {
    e.kind = Step::Kind::init;
    e.fields = init->get_object();
  } else if (const json::value* action = line.if_contains("action")) {
    e.kind = Step::Kind::propose;
    e.role = member(line, "role");
    e.action = canonicalJson(*action);
  } else {
    e.kind = Step::Kind::decide;
    e.counselor = member(line, "counselor");
    e.commit = member(line, "decision") == "commit";
    e.base = member(line, "base") == "current" ? CommitBase::current : CommitBase::candidate;
    if (const json::value* edit = line.if_contains("edit")) e.fields = edit->get_object();
    e.reason = member(line, "reason");
  }
  return out;
}

inline std::vector<ScenarioLine> scenarioLines(std::string_view text) {
  std::vector<ScenarioLine> lines;
  std::istringstream in{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(scenarioLine(objectOf(line), number));
  }
  return lines;
}

// The scenarios that a domain ships, and those of the folder WITAN_SCENARIOS names, if it names one.
inline std::vector<ScenarioLine> scenariosOf(const DomainModule& module) {
  std::vector<ScenarioLine> lines = scenarioLines(module.scenarios());
  const char* folder = std::getenv("WITAN_SCENARIOS");
  if (folder == nullptr) return lines;
  std::ifstream file(std::string(folder) + "/" + module.signature().domain + ".jsonl");
  std::stringstream text;
  text << file.rdbuf();
  for (ScenarioLine& line : scenarioLines(text.str())) {
    line.event.entity = "neighbour:" + line.event.entity;
    line.event.operationId = "neighbour:" + line.event.operationId;
    lines.push_back(std::move(line));
  }
  return lines;
}

// As the CLI words outcomes: "approved", "rejected:UDT_REF_INTEGRITY", "cCommitted:safe".
inline std::string wording(const Decision& d) {
  std::string out(enumName(d.outcome));
  if (d.outcome != Outcome::cCommitted) return d.invariant.empty() ? out : out + ":" + d.invariant;
  if (d.safe.value_or(false)) return out + ":safe";
  out += ":UNSAFE[";
  for (std::size_t i = 0; i < d.violated.size(); ++i) out += (i ? "," : "") + d.violated[i];
  return out + "]";
}

// Every shipped domain, with counselors even where the domain has none of its own.
inline std::vector<std::unique_ptr<DomainModule>> everyDomain() {
  std::vector<std::unique_ptr<DomainModule>> all;
  for (std::string_view name : domainNames()) {
    auto module = makeDomain(name).value();
    if (module->signature().counselors.empty()) module = makeDomain(name, {}, {"somebody"}).value();
    all.push_back(std::move(module));
  }
  return all;
}

}  // namespace witan::domains::test
