#include "kernel/graph/line.h"

#include "base/sha256.h"

namespace witan::graph {

const char* toString(LineKind kind) {
  static constexpr std::array names{"deployed", "begun",    "sent",      "delivered",   "resumed",     "verdict",
                                    "asked",    "answered", "effect",    "effectFound", "emitted",     "finished",
                                    "failed",   "dead",     "duplicate", "refused",     "compensated", "ended"};
  return names[std::size_t(kind)];
}

std::string identityOf(const std::string& canonical) { return toHex(sha256(canonical)); }
std::string digestOf(const json::value& body) { return identityOf(canonicalJson(body)); }

namespace {

void addMembers(json::object& out, const Line& line) {
  switch (line.kind) {
    case LineKind::begun:
      out["external"] = line.external;
      out["version"] = line.number;
      out["message"] = line.message;
      out["key"] = line.key;
      out["digest"] = digestOf(*line.body);
      break;
    case LineKind::sent:
      out.erase("node");
      out["edge"] = line.edge;
      out["message"] = line.message;
      out["key"] = line.key;
      out["digest"] = digestOf(*line.body);
      out["seq"] = line.sequence;
      break;
    case LineKind::delivered:
      out["message"] = line.message;
      out["key"] = line.key;
      [[fallthrough]];
    case LineKind::resumed:
      out["span"] = line.span;
      out["attempt"] = line.number;
      break;
    case LineKind::verdict:
      out["span"] = line.span;
      out["verdict"] = line.why;
      out["token"] = line.token;
      break;
    case LineKind::asked:
      out["span"] = line.span;
      out["key"] = line.key;
      out["digest"] = digestOf(*line.body);
      out["why"] = line.why;
      break;
    case LineKind::answered:
      out["span"] = line.span;
      out["by"] = line.by;
      out["approve"] = line.flag;
      break;
    case LineKind::effect:
    case LineKind::effectFound:
      out["span"] = line.span;
      out["tool"] = line.token;
      break;
    case LineKind::emitted:
      out["message"] = line.message;
      out["digest"] = digestOf(*line.body);
      out["body"] = *line.body;
      break;
    case LineKind::finished:
      out["span"] = line.span;
      out["sends"] = line.number;
      break;
    case LineKind::failed:
      out["span"] = line.span;
      out["attempt"] = line.number;
      out["why"] = line.why;
      out["retryAtMs"] = line.retryAtMs ? json::value(*line.retryAtMs) : json::value(nullptr);
      break;
    case LineKind::dead:
      out["message"] = line.message;
      out["key"] = line.key;
      out["reason"] = line.why;
      break;
    case LineKind::duplicate:
      if (line.message.empty()) {
        out["external"] = line.external;
      } else {
        out["message"] = line.message;
        out["key"] = line.key;
      }
      break;
    case LineKind::refused:
      out["external"] = line.external;
      out["why"] = line.why;
      break;
    case LineKind::compensated:
      out["span"] = line.span;
      out["operation"] = line.operation;
      out["tool"] = line.token;
      break;
    case LineKind::ended:
      out.erase("node");
      out["status"] = line.why;
      out["deliveries"] = line.number;
      out["dead"] = line.sequence;
      break;
    case LineKind::deployed: break;
  }
}

}  // namespace

json::object toJson(const Line& line, std::int64_t n) {
  json::object out{{"n", n}, {"atMs", line.atMs}, {"event", toString(line.kind)}};
  if (!line.run.empty()) out["run"] = line.run;
  out["node"] = line.node;
  addMembers(out, line);
  return out;
}

}  // namespace witan::graph
