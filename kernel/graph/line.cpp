#include "kernel/graph/line.h"

#include "base/sha256.h"

namespace witan::graph {

std::string identityOf(const std::string& canonical) { return toHex(sha256(canonical)); }
std::string digestOf(const json::value& body) { return identityOf(canonicalJson(body)); }

const char* nameOf(const Line& line) {
  if (const auto* effect = std::get_if<Effected>(&line.fact))
    return effect->found ? Effected::kFoundName : effect->kName;
  return std::visit([](const auto& fact) { return std::decay_t<decltype(fact)>::kName; }, line.fact);
}

namespace {

void addMembers(json::object&, const Deployed&) {}
void addMembers(json::object& out, const Begun& fact) {
  out["external"] = fact.external;
  out["version"] = fact.version;
  out["message"] = fact.message;
  out["key"] = fact.key;
  out["digest"] = digestOf(*fact.body);
}
void addMembers(json::object& out, const Sent& fact) {
  out.erase("node");
  out["edge"] = fact.edge;
  out["message"] = fact.message;
  out["key"] = fact.key;
  out["digest"] = digestOf(*fact.body);
  out["seq"] = fact.sequence;
}
void addMembers(json::object& out, const Delivered& fact) {
  out["message"] = fact.message;
  out["key"] = fact.key;
  out["span"] = fact.span;
  out["attempt"] = fact.attempt;
}
void addMembers(json::object& out, const Resumed& fact) {
  out["span"] = fact.span;
  out["attempt"] = fact.attempt;
}
void addMembers(json::object& out, const Redriven& fact) {
  out["message"] = fact.message;
  out["key"] = fact.key;
  out["dead"] = fact.dead;
}
void addMembers(json::object& out, const Judged& fact) {
  out["span"] = fact.span;
  out["verdict"] = fact.verdict;
  out["token"] = fact.token;
}
void addMembers(json::object& out, const Asked& fact) {
  out["span"] = fact.span;
  out["key"] = fact.key;
  out["digest"] = digestOf(*fact.body);
  out["why"] = fact.why;
}
void addMembers(json::object& out, const Answered& fact) {
  out["span"] = fact.span;
  out["by"] = fact.by;
  out["approve"] = fact.approve;
}
void addMembers(json::object& out, const Effected& fact) {
  out["span"] = fact.span;
  out["tool"] = fact.tool;
}
void addMembers(json::object& out, const Emitted& fact) {
  out["message"] = fact.message;
  out["digest"] = digestOf(*fact.body);
  out["body"] = *fact.body;
}
void addMembers(json::object& out, const Finished& fact) {
  out["span"] = fact.span;
  out["sends"] = fact.sends;
}
void addMembers(json::object& out, const Failed& fact) {
  out["span"] = fact.span;
  out["attempt"] = fact.attempt;
  out["why"] = fact.why;
  out["retryAtMs"] = fact.retryAtMs ? json::value(*fact.retryAtMs) : json::value(nullptr);
}
void addMembers(json::object& out, const Dead& fact) {
  out["message"] = fact.message;
  out["key"] = fact.key;
  out["reason"] = fact.reason;
}
void addMembers(json::object& out, const Duplicate& fact) {
  out["message"] = fact.message;
  out["key"] = fact.key;
}
void addMembers(json::object& out, const DuplicateArrival& fact) { out["external"] = fact.external; }
void addMembers(json::object& out, const Refused& fact) {
  out["external"] = fact.external;
  out["why"] = fact.why;
}
void addMembers(json::object& out, const Compensated& fact) {
  out["span"] = fact.span;
  out["operation"] = fact.operation;
  out["tool"] = fact.tool;
}
void addMembers(json::object& out, const Ended& fact) {
  out["status"] = fact.status;
  out["deliveries"] = fact.deliveries;
  out["dead"] = fact.dead;
}

}  // namespace

json::object toJson(const Line& line, std::int64_t n) {
  json::object out{{"n", n}, {"atMs", line.atMs}, {"event", nameOf(line)}};
  std::visit(
      [&](const auto& fact) {
        if constexpr (requires { fact.run; }) out["run"] = fact.run;
        if constexpr (requires { fact.node; }) out["node"] = fact.node;
        addMembers(out, fact);
      },
      line.fact);
  return out;
}

}  // namespace witan::graph
