#include "node/operations/why_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "domains/graph/steps.h"
#include "node/ledgers/ledger_reader.h"
#include "replica/core/partition_host.h"

namespace witan::node::operations {

using domains::graph::Step;

namespace {

constexpr std::size_t kMostPassages = 64;

// The steps of one run, by what leads from one to the next.
struct RunSteps {
  struct Sender {
    std::uint64_t seq = 0;
    std::string span, key;  // of the span that sent it; none: the message began the run
  };
  struct Delivery {
    std::string message, node;
    Time at;
  };
  GraphPath path;
  std::map<std::string, Sender> senders;                               // by message
  std::map<std::string, std::pair<std::string, std::uint64_t>> again;  // by message: the dead one, and the entry
  std::map<std::string, Delivery> deliveries;                          // by span, the first
  std::map<std::string, GraphAnswered> answers;                        // by span

  void take(const Step& step, std::uint64_t seq, Time at) {
    if (const auto* begin = std::get_if<domains::graph::Begin>(&step)) {
      path.external = begin->external, path.ingress = begin->node, path.begun = seq, path.at = at;
      senders[begin->message] = {seq, "", begin->key};
    } else if (const auto* finish = std::get_if<domains::graph::Finish>(&step)) {
      for (const domains::graph::Send& one : finish->sends) senders[one.message] = {seq, finish->span, one.key};
    } else if (const auto* deliver = std::get_if<domains::graph::Deliver>(&step)) {
      deliveries.try_emplace(deliver->span, Delivery{deliver->message, deliver->node, at});
    } else if (const auto* answer = std::get_if<domains::graph::Answer>(&step)) {
      answers[answer->span] = {seq, answer->by, answer->digest, answer->approve, !answer->signature.empty()};
    } else if (const auto* redrive = std::get_if<domains::graph::Redrive>(&step)) {
      again[domains::graph::redrivenId(redrive->message)] = {redrive->message, seq};
    }
  }

  std::optional<GraphPassage> passage(const std::string& span) const {
    const auto at = deliveries.find(span);
    if (at == deliveries.end()) return std::nullopt;
    GraphPassage made{span, at->second.node, "", at->second.message, 0, at->second.at, {}};
    if (const auto answer = answers.find(span); answer != answers.end()) made.answer = answer->second;
    return made;
  }

  void lead(std::string span) {
    for (std::set<std::string> seen; path.passages.size() < kMostPassages && seen.insert(span).second;) {
      auto made = passage(span);
      if (!made) break;
      std::string message = made->message;
      if (const auto dead = again.find(message); dead != again.end())
        message = dead->second.first, made->sent = dead->second.second;
      const auto sender = senders.find(message);
      if (sender != senders.end()) {
        made->key = sender->second.key;
        if (made->sent == 0) made->sent = sender->second.seq;
      }
      path.passages.push_back(*std::move(made));
      if (sender == senders.end() || sender->second.span.empty()) break;
      span = sender->second.span;
    }
    std::ranges::reverse(path.passages);
  }
};

std::optional<Step> stepIn(std::string_view action) {
  auto parsed = parseJson(action, {.bytes = kernel::kRecordMax, .depth = 64});
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  auto step = domains::graph::readStep(std::move(parsed->as_object()));
  return step.ok() ? std::optional(*std::move(step)) : std::nullopt;
}

}  // namespace

Result<std::optional<GraphPath>> graphPath(const PartitionHost& host, const std::string& graph, const std::string& run,
                                           const std::string& span) {
  RunSteps steps;
  bool any = false;
  WITAN_DO(forEachEntry(host.rows(), [&](const StoredEntry& one) {
    const kernel::EntryView& entry = one.entry;
    if (entry.entity != graph || entry.tag != kernel::Tag::approved || entry.action.find(run) == entry.action.npos)
      return true;
    if (const auto step = stepIn(entry.action)) any = true, steps.take(*step, entry.seq, entry.time);
    return true;
  }));
  if (!any) return std::optional<GraphPath>();
  steps.path.graph = graph, steps.path.run = run;
  if (!span.empty()) steps.lead(span);
  return std::optional(std::move(steps.path));
}

GraphPlace placeIn(std::string_view graph, std::string_view action) {
  GraphPlace place{std::string(graph), "", ""};
  const auto step = stepIn(action);
  if (!step) return place;
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.run; }) place.run = one.run;
        if constexpr (requires { one.span; }) place.span = one.span;
      },
      *step);
  return place;
}

Result<std::optional<GraphPlace>> graphPlaceOf(const PartitionHost& host, const std::string& id) {
  std::optional<GraphPlace> found;
  WITAN_DO(forEachEntry(host.rows(), [&](const StoredEntry& one) {
    const kernel::EntryView& entry = one.entry;
    if (entry.tag != kernel::Tag::approved || entry.action.find(id) == entry.action.npos) return true;
    GraphPlace place = placeIn(entry.entity, entry.action);
    if (place.run != id && place.span != id) return true;
    if (place.span != id) place.span.clear();
    found = std::move(place);
    return false;
  }));
  return found;
}

}  // namespace witan::node::operations
