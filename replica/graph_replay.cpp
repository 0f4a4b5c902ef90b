#include "replica/graph_replay.h"

#include <algorithm>

#include "agents/episode/replay.h"
#include "agents/episode/transcript.h"

namespace witan::node {

using domains::graph::Send;
using graph::NodeKind;

namespace {

constexpr int kMostRecurrences = 1'000;  // of an external id that are tried

struct Made {
  std::string type, digest;
};

class GraphReplayer {
 public:
  GraphReplayer(const std::string& graph, const GraphReplaySources& sources) : graph_(graph), sources_(sources) {}

  Status take(const GraphEntry& entry) {
    if (result_.differs) return okStatus();
    ++result_.entries;
    WITAN_TRY(wrong, std::visit([&](const auto& step) { return on(step); }, entry.step));
    if (wrong.empty()) return okStatus();
    result_.differs = entry.seq;
    result_.why = wrong;
    return okStatus();
  }
  GraphReplay result() && { return std::move(result_); }

 private:
  struct Open {
    std::string node, key, type, digest;
  };
  using Wrong = Result<std::string>;  // empty: nothing is

  template <class Other>
  Wrong on(const Other&) {
    return std::string();
  }
  Wrong on(const domains::graph::Deploy& s) {
    if (auto document = sources_.document(s.digest))
      documents_[s.version] = std::move(document);
    else
      result_.missing.push_back("the document of version " + std::to_string(s.version));
    return std::string();
  }
  Wrong on(const domains::graph::Begin& s) {
    const auto document = documents_.find(s.version);
    if (document == documents_.end()) return std::string();
    document_ = document->second;
    run_ = s.run;
    bool follows = s.run == graph::runIdOf(graph_, s.node, s.external);
    for (int n = 1; n <= kMostRecurrences && !follows; ++n)
      follows = s.run == graph::runIdOf(graph_, s.node, concat(s.external, "#", n));
    if (!follows) return std::string("the run has another id");
    const graph::Node* node = document_->node(s.node);
    if (node == nullptr || node->kind != NodeKind::ingress) return "the document has no ingress " + s.node;
    if (s.message != graph::identityOf("v1|message|" + s.run + "||" + s.node + "|0"))
      return std::string("the first message has another id");
    if (const graph::Body body = bodyOf(s.digest)) {
      const json::value* field = node->key.empty() ? nullptr : graph::valueAt(*body, node->key);
      if (s.key != (field == nullptr ? s.run : graph::keyText(*field)))
        return std::string("the first message has another key");
    }
    open_[s.message] = {s.node, s.key, node->out.at(0), s.digest};
    return std::string();
  }
  Wrong on(const domains::graph::Redrive& s) {
    if (const auto dead = dead_.find(s.message); dead != dead_.end())
      open_[domains::graph::redrivenId(s.message)] = dead->second;
    return std::string();
  }
  Wrong on(const domains::graph::Deliver& s) {
    attempts_[s.span] = s.attempt;
    messageOf_[s.span] = s.message;
    if (document_ == nullptr) return std::string();
    const auto message = open_.find(s.message);
    if (message == open_.end() || message->second.node != s.node)
      return std::string("it delivers what was not sent there");
    if (s.span != graph::identityOf("v1|span|" + s.run + "|" + s.node + "|" + s.message))
      return std::string("its span has another id");
    return std::string();
  }
  Wrong on(const domains::graph::Verdict& s) {
    if (const auto message = open_.find(messageOf_[s.span]);
        message != open_.end() && s.verdict == "redact" && !s.digest.empty())
      message->second.digest = s.digest;
    return std::string();
  }
  Wrong on(const domains::graph::Ask& s) {
    const auto message = open_.find(messageOf_[s.span]);
    return message != open_.end() && message->second.digest != s.digest ? std::string("it asks about another body")
                                                                        : std::string();
  }
  Wrong on(const domains::graph::Fail& s) {
    bury(s.dead);
    return std::string();
  }
  Wrong on(const domains::graph::End& s) {
    bury(s.dead);
    return std::string();
  }
  Wrong on(const domains::graph::Finish& s) {
    const auto message = open_.find(messageOf_[s.span]);
    if (document_ == nullptr || message == open_.end()) return std::string();
    const Open cause = message->second;
    const graph::Node& node = *document_->node(s.node);
    if (node.kind == NodeKind::egress && !node.sink && s.output != cause.digest)
      return std::string("another body came out");
    WITAN_TRY(made, outputsOf(node, cause, s));
    if (made) {
      if (std::string wrong = compare(s, cause, node, *made); !wrong.empty()) return wrong;
    }
    open_.erase(messageOf_[s.span]);
    for (const Send& send : s.sends)
      if (const graph::Edge* edge = edgeOf(send.edge); edge != nullptr && !send.duplicate)
        open_[send.message] = {send.node, send.key, edge->as, send.digest};
    bury(s.dead);
    return std::string();
  }

  void bury(const std::vector<domains::graph::Lost>& lost) {
    for (const domains::graph::Lost& one : lost)
      if (const auto at = open_.find(one.message); at != open_.end()) {
        dead_[one.message] = at->second;
        open_.erase(at);
      }
  }
  const graph::Edge* edgeOf(const std::string& name) const {
    const auto at = std::ranges::find(document_->edges, name, &graph::Edge::name);
    return at == document_->edges.end() ? nullptr : &*at;
  }
  graph::Body bodyOf(const std::string& digest) {
    graph::Body body = sources_.body(digest);
    if (body == nullptr) result_.missing.push_back("body " + digest.substr(0, 16));
    return body;
  }

  // What a span makes of its message; nothing: it came from outside, or what it rests on is not here.
  Result<std::optional<std::vector<Made>>> outputsOf(const graph::Node& node, const Open& cause,
                                                     const domains::graph::Finish& s) {
    std::optional<std::vector<Made>> made;
    if (node.kind == NodeKind::ingress || node.kind == NodeKind::counselor) {
      made.emplace(std::vector<Made>{{cause.type, cause.digest}});
    } else if (node.kind == NodeKind::egress) {
      made.emplace();
    } else if (node.kind == NodeKind::function) {
      made = functionOf(node, cause);
    } else if (node.kind == NodeKind::agent) {
      return agentOf(node, s);
    }
    return made;
  }
  std::optional<std::vector<Made>> functionOf(const graph::Node& node, const Open& cause) {
    const graph::Body body = bodyOf(cause.digest);
    if (body == nullptr) return std::nullopt;
    std::vector<Made> made;
    if (node.name == "collect") {
      json::array& all = collected_[{node.id, cause.key}];
      all.push_back(*body);
      if (std::int64_t(all.size()) < *graph::integerOf(node.args.at("count"))) return made;
      const json::object whole{{std::string(node.args.at("field").as_string()), std::exchange(all, {})}};
      made.push_back({node.out.empty() ? std::string() : node.out[0], graph::digestOf(whole)});
      return made;
    }
    const auto outputs = graph::evaluate(node, cause.type, *body);
    if (!outputs) return made;
    for (const graph::Output& one : *outputs) made.push_back({one.type, graph::digestOf(one.body)});
    return made;
  }
  Result<std::optional<std::vector<Made>>> agentOf(const graph::Node& node, const domains::graph::Finish& s) {
    std::optional<std::vector<Made>> made;
    const std::string who = node.name + " at span " + s.span.substr(0, 16);
    const agents::Agent* agent = sources_.agent(node.name, node.version);
    WITAN_TRY(key, graphRunKey(node.name, s.span, attempts_[s.span]));
    WITAN_TRY(transcript, sources_.transcript(key));
    if (agent == nullptr || transcript.empty()) {
      result_.missing.push_back((agent == nullptr ? "agent " : "the transcript of ") + who);
      return made;
    }
    WITAN_TRY(replayed, agents::episode::replay(*agent, transcript));
    ++result_.episodes;
    made.emplace();
    if (!replayed.reproduced()) {
      result_.why =
          concat(who, ": its transcript, entry ", replayed.difference ? replayed.difference->entry : replayed.entries,
                 ", is made otherwise: ", replayed.difference ? replayed.difference->why : "it has not ended");
      return made;
    }
    WITAN_TRY(end, agents::episode::parseEntry(transcript.back()));
    if (!s.model.empty() && s.model != graphModelOf(node, end.body)) {
      result_.why = who + ": another transcript than the entry names";
      return made;
    }
    if (const json::value* emits = end.body.if_contains("emits"); emits != nullptr && emits->is_array())
      for (const json::value& one : emits->get_array())
        made->push_back({std::string(one.at("type").as_string()), graph::digestOf(one.at("body"))});
    return made;
  }

  // The sends of an entry are those that follow from the outputs, in order; what is missing died of a guard.
  std::string compare(const domains::graph::Finish& s, const Open& cause, const graph::Node& node,
                      const std::vector<Made>& made) {
    if (!result_.why.empty()) return result_.why;
    std::map<std::string, std::int64_t> counts;
    std::size_t next = 0;
    for (const Made& output : made)
      for (const std::size_t at : document_->outOf(node.id)) {
        const graph::Edge& edge = document_->edges[at];
        if (edge.type != output.type) continue;
        const std::string id =
            graph::identityOf(concat("v1|message|", run_, "|", s.span, "|", edge.name, "|", counts[edge.name]++));
        if (next < s.sends.size() && s.sends[next].message == id) {
          const Send& send = s.sends[next++];
          if (send.edge != edge.name || send.node != edge.to || send.digest != output.digest)
            return "on " + edge.name + " it sends something else";
          if (send.key != keyOf(edge, cause, output.digest)) return "on " + edge.name + " it sends under another key";
        } else if (std::ranges::find(s.dead, id, &domains::graph::Lost::message) == s.dead.end()) {
          return "on " + edge.name + " it does not send what follows from its message";
        }
      }
    return next == s.sends.size() ? std::string() : "it sends more than follows from its message";
  }
  std::string keyOf(const graph::Edge& edge, const Open& cause, const std::string& digest) {
    if (edge.key.empty()) return cause.key;
    const graph::Body body = bodyOf(digest);
    const json::value* field = body == nullptr ? nullptr : graph::valueAt(*body, edge.key);
    return field == nullptr ? cause.key : graph::keyText(*field);
  }

  const std::string& graph_;
  const GraphReplaySources& sources_;
  std::map<std::int64_t, std::shared_ptr<const graph::Document>> documents_;
  std::shared_ptr<const graph::Document> document_;  // of the run
  std::string run_;
  std::map<std::string, Open> open_, dead_;  // messages
  std::map<std::string, std::string> messageOf_;
  std::map<std::string, std::int64_t> attempts_;
  std::map<std::pair<std::string, std::string>, json::array> collected_;
  GraphReplay result_;
};

}  // namespace

std::string graphModelOf(const graph::Node& node, const json::object& end) {
  const json::value* transcript = end.if_contains("transcript");
  const bool named = transcript != nullptr && transcript->is_string();
  return concat(node.name, "@", node.version, "/",
                named ? std::string_view(transcript->get_string()) : std::string_view());
}

Result<GraphReplay> replayGraphRun(const std::string& graph, const std::vector<GraphEntry>& entries,
                                   const GraphReplaySources& sources) {
  GraphReplayer replayer(graph, sources);
  for (const GraphEntry& entry : entries) WITAN_DO(replayer.take(entry));
  return std::move(replayer).result();
}

}  // namespace witan::node
