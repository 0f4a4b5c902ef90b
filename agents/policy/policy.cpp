#include "agents/policy/policy.h"

#include <algorithm>
#include <map>
#include <set>

#include "agents/policy/monitor.h"
#include "agents/policy/projection.h"
#include "base/identity.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "replication/records/records.h"

namespace witan::agents {

namespace {

std::string at(const std::string& list, std::size_t i) { return concat(list, "[", i, "]"); }

// The first problem wins; the rest is not looked at.
class Checker {
 public:
  explicit Checker(const Policy& policy) : policy_(policy) {}

  PolicyProblem run() {
    id("name", policy_.name);
    if (policy_.version == 0 || policy_.version > std::uint64_t{1} << 53)
      report("version", "versions are from 1 to 2^53",
             "a confirmation counts for one version: raise it with each change");
    count("boundary", policy_.boundary.size(), kMaxBoundaries);
    count("grant", policy_.grant.size(), kMaxGrants);
    for (std::size_t i = 0; i < policy_.boundary.size() && ok(); ++i) boundary(at("boundary", i), policy_.boundary[i]);
    for (std::size_t i = 0; i < policy_.grant.size() && ok(); ++i) grant(at("grant", i), policy_.grant[i]);
    return std::move(problem_);
  }

 private:
  bool ok() const { return problem_.message.empty(); }
  void report(std::string place, std::string message, std::string hint = {}) {
    if (ok()) problem_ = {std::move(place), std::move(message), std::move(hint)};
  }

  void id(const std::string& place, const std::string& id) {
    if (Status status = validateId("the name", id); !status.ok())
      report(place, status.error().message, status.error().hint);
  }
  void count(const std::string& place, std::size_t count, std::size_t most) {
    if (count > most) report(place, concat(count, " elements (at most ", most, ")"));
  }
  void ids(const std::string& place, const std::vector<std::string>& ids) {
    count(place, ids.size(), kMaxPolicyList);
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < ids.size() && ok(); ++i) {
      id(at(place, i), ids[i]);
      if (!seen.insert(ids[i]).second) report(at(place, i), inQuotes(ids[i]) + " stands here twice");
    }
  }

  void boundary(const std::string& place, const Boundary& b) {
    id(place + ".name", b.name);
    if (!boundaries_.insert(b.name).second) report(place + ".name", "a second boundary " + inQuotes(b.name));
    ids(place + ".locales", b.locales);
    if (b.locales.empty()) report(place + ".locales", "no residency tag", "say where data gets to, as in [\"device\"]");
    count(place + ".operation", b.operation.size(), kMaxOperations);
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < b.operation.size() && ok(); ++i) {
      const std::string where = at(place + ".operation", i);
      operation(where, b.operation[i]);
      if (!names.insert(b.operation[i].name).second)
        report(where + ".name", "a second operation " + inQuotes(b.operation[i].name) + " of " + b.name);
    }
  }

  void operation(const std::string& place, const OperationRule& o) {
    id(place + ".name", o.name);
    ids(place + ".secrets", o.secrets);
    paths(place + ".allow", o.allow);
    paths(place + ".mask", o.mask);
    if (!ok()) return;
    if (const auto list = Allowlist::compile(o.allow, o.mask); !list.ok())
      report(place + (list.error().message.find("masked") == std::string::npos ? ".allow" : ".mask"),
             list.error().message, list.error().hint);
    if (o.answer) answer(place, *o.answer);
    if (!ok() || !o.ensure) return;
    if (const auto schema = postCondition(*o.ensure); !schema.ok())
      report(place + ".ensure", schema.error().message, schema.error().hint);
  }

  void answer(const std::string& place, const std::vector<std::string>& fields) {
    paths(place + ".answer", fields);
    if (!ok()) return;
    if (const auto list = Allowlist::compile(fields, {}); !list.ok())
      report(place + ".answer", list.error().message, list.error().hint);
  }

  void paths(const std::string& place, const std::vector<std::string>& texts) {
    count(place, texts.size(), kMaxPolicyList);
    for (std::size_t i = 0; i < texts.size() && ok(); ++i)
      if (const auto path = parseFieldPath(texts[i]); !path.ok())
        report(at(place, i), path.error().message, path.error().hint);
  }

  void grant(const std::string& place, const Grant& g) {
    id(place + ".agent", g.agent);
    id(place + ".category", g.category);
    if (!grants_.insert({g.agent, g.category}).second)
      report(place, "a second grant to " + inQuotes(g.agent) + " for category " + inQuotes(g.category));
    ids(place + ".locales", g.locales);
    ids(place + ".tools", g.tools);
    ids(place + ".scopes", g.scopes);
    ids(place + ".boundaries", g.boundaries);
    for (std::size_t i = 0; i < g.boundaries.size() && ok(); ++i)
      if (!boundaries_.contains(g.boundaries[i]))
        report(at(place + ".boundaries", i), "no boundary " + inQuotes(g.boundaries[i]),
               didYouMean(g.boundaries[i], {boundaries_.begin(), boundaries_.end()}));
    for (const std::string& reason : g.wakes.value_or(std::vector<std::string>()))
      if (!parseEnum<replication::WakeReason>(reason))
        report(place + ".wakes", inQuotes(reason) + " wakes no agent",
               "of " + JsonCodec<replication::WakeReason>::words());
    count(place + ".models", g.models.size(), kMaxPolicyList);
    std::set<ModelName> models;
    for (std::size_t i = 0; i < g.models.size() && ok(); ++i) {
      id(at(place + ".models", i) + ".provider", g.models[i].provider);
      id(at(place + ".models", i) + ".model", g.models[i].model);
      if (!models.insert(g.models[i]).second) report(at(place + ".models", i), "this model stands here twice");
    }
  }

  const Policy& policy_;
  PolicyProblem problem_;
  std::set<std::string> boundaries_;
  std::set<std::pair<std::string, std::string>> grants_;
};

}  // namespace

Hash policyDigest(const Policy& policy) { return sha256(toJson(policy)); }

PolicyProblem findProblem(const Policy& policy) { return Checker(policy).run(); }

Status checkPolicy(const Policy& policy) {
  PolicyProblem problem = findProblem(policy);
  if (problem.message.empty()) return okStatus();
  return invalid("policy." + problem.place + ": " + problem.message, std::move(problem.hint));
}

Result<Policy> policyFromJson(const json::value& value) {
  Policy policy;
  WITAN_DO(readJson(value, policy, "policy"));
  WITAN_DO(checkPolicy(policy));
  return policy;
}

std::string didYouMean(std::string_view given, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  std::string all;
  const std::string* nearest = nullptr;
  std::size_t best = std::min<std::size_t>(2, given.size() / 2) + 1;
  for (const std::string& word : known) {
    all += (all.empty() ? "known: " : ", ") + word;
    if (word.size() > 64 || given.size() > 64) continue;
    if (const std::size_t d = editDistance(given, word); d < best) {
      best = d;
      nearest = &word;
    }
  }
  return nearest == nullptr ? all : "did you mean \"" + *nearest + "\"?";
}

}  // namespace witan::agents
