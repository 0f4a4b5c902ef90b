// Reading a transcript: entries that came from outside are fed to an episode, which derives the others.
#include "agents/episode/replay.h"

#include "agents/episode/episode.h"
#include "base/json_codec.h"
#include "base/quote.h"

namespace witan::agents::episode {

namespace {

template <class T>
Status readMember(const json::object& body, std::string_view name, T& into) {
  const json::value* found = body.if_contains(name);
  if (found == nullptr) return invalid(concat("\"", name, "\" is missing"));
  return readJson(*found, into, name);
}

// Texts that may be longer than readJson allows.
Result<std::string> textOf(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  if (found == nullptr || !found->is_string()) return invalid(concat("\"", name, "\" is no text"));
  return std::string(found->get_string());
}

Result<Hash> hashOf(const json::object& body, std::string_view name) {
  WITAN_TRY(text, textOf(body, name));
  return hashFromHex(text);
}

Result<Observation> observationOf(const json::object& body) {
  Observation out;
  WITAN_DO(readMember(body, "ok", out.ok));
  if (const json::value* content = body.if_contains("content")) out.content = *content;
  if (!out.ok) {
    WITAN_SET(out.error, textOf(body, "error"));
  }
  if (body.contains("tokens")) WITAN_DO(readMember(body, "tokens", out.tokens));
  if (body.contains("seconds")) WITAN_DO(readMember(body, "seconds", out.seconds));
  return out;
}

Result<Actions> actionsOf(const json::object& body) {
  const json::value* list = body.if_contains("actions");
  if (list == nullptr || !list->is_array()) return invalid("\"actions\" is no list");
  Actions out;
  for (const json::value& one : list->get_array()) {
    if (!one.is_object()) return invalid("an action is no object");
    const json::object& action = one.get_object();
    replication::PlanAction& read = out.emplace_back();
    WITAN_DO(readMember(action, "tool", read.toolName));
    WITAN_DO(readMember(action, "scope", read.scope));
    WITAN_DO(readMember(action, "targets", read.targets));
    const json::value* arguments = action.if_contains("arguments");
    if (arguments == nullptr) return invalid("an action without arguments");
    read.arguments = canonicalJson(*arguments);
  }
  return out;
}

Result<Beginning> beginningIn(const Entry& entry, const AgentSpec& spec) {
  if (entry.kind != EntryKind::begin) return corrupt("the first entry does not begin a run");
  WITAN_TRY(agent, textOf(entry.body, "agent"));
  WITAN_TRY(version, textOf(entry.body, "version"));
  if (agent != spec.id || version != spec.version)
    return conflict("the run is of agent " + inQuotes(agent) + " in version " + inQuotes(version) + ", not of " +
                        inQuotes(spec.id) + " in version " + inQuotes(spec.version),
                    "replay it with the build that made it");
  Beginning out;
  WITAN_TRY(run, hashOf(entry.body, "run"));
  out.run = RunKey{run};
  WITAN_DO(readMember(entry.body, "device", out.device));
  WITAN_DO(readMember(entry.body, "seed", out.seed));
  WITAN_DO(readMember(entry.body, "grant", out.grant));
  WITAN_DO(readMember(entry.body, "tools", out.tools));
  out.rules = 1;
  if (entry.body.contains("rules")) WITAN_DO(readMember(entry.body, "rules", out.rules));
  if (out.rules < 1 || out.rules > kRules)
    return conflict(concat("the run follows rules ", out.rules), "replay it with the build that made it");
  if (entry.body.contains("parent")) {
    WITAN_TRY(parent, hashOf(entry.body, "parent"));
    out.parent = RunKey{parent};
  }
  const json::value* input = entry.body.if_contains("input");
  if (input == nullptr || !input->is_object()) return corrupt("the first entry has no input");
  out.input = input->get_object();
  return out;
}

}  // namespace

// An entry that came from outside, as if it happened now.
Status Episode::feed(const Entry& entry) {
  const json::object& body = entry.body;
  switch (entry.kind) {
    case EntryKind::observation: {
      WITAN_TRY(span, textOf(body, "span"));
      WITAN_TRY(observation, observationOf(body));
      return observed(span, std::move(observation));
    }
    case EntryKind::plan: {
      WITAN_TRY(actions, actionsOf(body));
      return planned({beginning_.run.value, agent_->spec().id, std::move(actions)});
    }
    case EntryKind::answer: {
      WITAN_TRY(span, textOf(body, "span"));
      WITAN_TRY(digest, hashOf(body, "digest"));
      WITAN_TRY(by, textOf(body, "by"));
      bool approved = false;
      WITAN_DO(readMember(body, "approved", approved));
      return answered(span, digest, approved, by);
    }
    case EntryKind::outcome: {
      WITAN_TRY(operation, hashOf(body, "span"));
      replication::OperationOutcome what{};
      WITAN_DO(readMember(body, "outcome", what));
      const json::value* result = body.if_contains("result");
      std::int64_t seconds = 0;
      if (body.contains("seconds")) WITAN_DO(readMember(body, "seconds", seconds));
      return outcome(OperationId{operation}, what, result == nullptr ? json::value() : *result, seconds);
    }
    case EntryKind::fork: {
      WITAN_TRY(agent, textOf(body, "agent"));
      Grant grant;
      WITAN_DO(readMember(body, "grant", grant));
      WITAN_TRY(sub, fork(agent, std::move(grant)));
      (void)sub;
      return okStatus();
    }
    case EntryKind::abort: {
      WITAN_TRY(cause, textOf(body, "cause"));
      return abort(cause);
    }
    default: return invalid("the agent does not come to this entry");
  }
}

// Lets an episode follow a transcript to its end, or to where it first differs.
class Follower {
 public:
  Follower(const Agent& agent, const Gate& gate, std::span<const std::string> contents)
      : agent_(agent), gate_(gate), contents_(contents) {}

  // Errors: notFound, conflict: see replay().
  Status follow() {
    if (contents_.empty()) return notFound("the transcript is empty");
    std::vector<Entry> recorded;
    for (const std::string& content : contents_) {
      auto entry = parseEntry(content);
      if (!entry.ok()) break;
      recorded.push_back(*std::move(entry));
    }
    readable_ = recorded.size();
    if (readable_ == 0) return unreadable();
    auto beginning = beginningIn(recorded.front(), agent_.spec());
    if (!beginning.ok()) {
      if (beginning.error().code == ErrorCode::conflict) return beginning.error();
      difference_ = Difference{0, beginning.error().message, contents_.front(), ""};
      return okStatus();
    }
    Episode episode(agent_, gate_, *std::move(beginning));
    episode.recorded_ = std::move(recorded);
    episode.start();
    run(episode);
    episode.recorded_.clear();
    episode.taken_ = episode.durable_ = std::min<std::uint64_t>(contents_.size(), episode.entries_.size());
    episode_ = std::move(episode);
    return okStatus();
  }

  std::optional<Episode>& episode() { return episode_; }
  const std::optional<Difference>& difference() const { return difference_; }

 private:
  void run(Episode& episode) {
    std::size_t compared = 0;
    for (;;) {
      const std::vector<Entry>& derived = episode.entries_;
      for (; compared < derived.size() && compared < contents_.size(); ++compared)
        if (derived[compared].content != contents_[compared])
          return differ(compared, "it is not what follows", derived[compared].content);
      if (compared == contents_.size()) return;
      if (compared == readable_) return (void)unreadable();
      if (episode.ended() != nullptr) return differ(compared, "the run had ended before", "");
      // A copy: the entry must not change while the episode appends.
      const Entry next = episode.recorded_[compared];
      const Status fed = episode.feed(next);
      if (!fed.ok()) return differ(compared, fed.error().message, "");
      if (episode.entries_.size() == compared) return differ(compared, "nothing of the kind was waited for", "");
    }
  }

  void differ(std::uint64_t entry, std::string why, const std::string& derived) {
    difference_ = Difference{entry, std::move(why), contents_[entry], derived};
  }

  Status unreadable() {
    auto entry = parseEntry(contents_[readable_]);
    differ(readable_, entry.error().message, "");
    return okStatus();
  }

  const Agent& agent_;
  const Gate& gate_;
  const std::span<const std::string> contents_;
  std::size_t readable_ = 0;
  std::optional<Episode> episode_;
  std::optional<Difference> difference_;
};

Result<Episode> Episode::resume(const Agent& agent, const Gate& gate, std::span<const std::string> contents) {
  Follower follower(agent, gate, contents);
  WITAN_DO(follower.follow());
  if (const auto& d = follower.difference()) return corrupt(concat("entry ", d->entry, " of the transcript: ", d->why));
  return std::move(*follower.episode());
}

Result<Replay> replay(const Agent& agent, std::span<const std::string> contents) {
  const ClosedGate closed;  // every verdict that counts is recorded
  Follower follower(agent, closed, contents);
  WITAN_DO(follower.follow());
  Replay out{.entries = contents.size(), .difference = follower.difference()};
  const auto& episode = follower.episode();
  out.ended = episode && episode->ended() != nullptr && episode->entries().size() == contents.size();
  return out;
}

}  // namespace witan::agents::episode
