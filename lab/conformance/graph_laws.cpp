#include "lab/conformance/graph_laws.h"

#include <map>
#include <set>

namespace witan::agents::conformance {

using namespace graph;

namespace {

using Lane = std::pair<std::string, std::string>;

Status against(std::size_t line, const std::string& what) {
  return invalid("line " + std::to_string(line + 1) + ": " + what);
}

template <class Fact>
const Fact* as(const Line& line) {
  return std::get_if<Fact>(&line.fact);
}

}  // namespace

Status guardsAreKept(const Document& document, const GraphLedger& ledger) {
  std::map<std::string, std::int64_t> bounds;
  for (const Edge& edge : document.edges)
    if (const auto bound = edge.bound()) bounds[edge.name] = *bound;
  std::map<std::pair<std::string, std::string>, std::int64_t> passes;
  std::set<std::string> open, ended;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (const auto* sent = as<Sent>(ledger[i])) {
      const auto bound = bounds.find(sent->edge);
      if (bound != bounds.end() && ++passes[{sent->run, sent->edge}] > bound->second)
        return against(i, sent->edge + " is passed beyond its bound");
    }
    if (const auto* begun = as<Begun>(ledger[i])) open.insert(begun->run);
    if (const auto* end = as<Ended>(ledger[i])) {
      if (!ended.insert(end->run).second) return against(i, "a run ends twice");
      open.erase(end->run);
    }
  }
  return open.empty() ? okStatus() : Status(invalid("a run has no end"));
}

Status lanesAreOrdered(const GraphLedger& ledger) {
  std::map<std::string, std::size_t> sent;  // message: its number
  std::map<Lane, std::size_t> last;
  std::map<Lane, std::pair<std::string, std::string>> open;  // span, message
  const auto close = [&](auto&& isIt) { std::erase_if(open, [&](const auto& one) { return isIt(one.second); }); };
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (const auto* begun = as<Begun>(ledger[i])) sent.emplace(begun->message, sent.size() + 1);
    if (const auto* one = as<Sent>(ledger[i])) sent.emplace(one->message, sent.size() + 1);
    if (const auto* delivered = as<Delivered>(ledger[i])) {
      const Lane lane{delivered->node, delivered->key};
      const auto number = sent.find(delivered->message);
      if (number == sent.end()) return against(i, "delivered before it was sent");
      if (delivered->attempt == 1 && number->second <= std::exchange(last[lane], number->second))
        return against(i, "delivered out of order");
      const auto [at, isFree] = open.try_emplace(lane, delivered->span, delivered->message);
      if (!isFree && at->second.first != delivered->span) return against(i, "two spans at a time in a lane");
    }
    if (const auto* finished = as<Finished>(ledger[i]))
      close([&](const auto& one) { return one.first == finished->span; });
    if (const auto* failed = as<Failed>(ledger[i]); failed != nullptr && !failed->retryAtMs)
      close([&](const auto& one) { return one.first == failed->span; });
    if (const auto* dead = as<Dead>(ledger[i])) close([&](const auto& one) { return one.second == dead->message; });
  }
  return okStatus();
}

Status nothingIsDoubled(const GraphLedger& ledger) {
  std::set<std::pair<std::string, std::int64_t>> delivered;
  std::set<std::string> effects;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (const auto* one = as<Delivered>(ledger[i]);
        one != nullptr && !delivered.emplace(one->message, one->attempt).second)
      return against(i, "a message is delivered twice");
    if (const auto* one = as<Effected>(ledger[i]); one != nullptr && !effects.insert(one->span).second)
      return against(i, "a span has two effects");
  }
  return okStatus();
}

Status boundariesAreGuarded(const Document& document, const GraphLedger& ledger) {
  std::map<std::string, std::string> verdicts;
  std::set<std::string> approved;
  const auto mayPass = [&](const std::string& node, const std::string& span) {
    if (!document.node(node)->monitor) return true;
    const std::string& verdict = verdicts[span];
    return verdict == "allow" || verdict == "redact" || (verdict == "require-human" && approved.contains(span));
  };
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (const auto* judged = as<Judged>(ledger[i])) verdicts[judged->span] = judged->verdict;
    if (const auto* answered = as<Answered>(ledger[i]); answered != nullptr && answered->approve)
      approved.insert(answered->span);
    const auto* finished = as<Finished>(ledger[i]);
    const auto* effect = as<Effected>(ledger[i]);
    if ((finished != nullptr && !mayPass(finished->node, finished->span)) ||
        (effect != nullptr && !mayPass(effect->node, effect->span)))
      return against(i, "no verdict lets it pass");
  }
  return okStatus();
}

}  // namespace witan::agents::conformance
