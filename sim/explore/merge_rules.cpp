// What a device does with a snapshot that reaches it: as seed 003 says, and as we do.
#include "base/dense.h"
#include "replication/records/agent_state_codec.h"
#include "replication/records/record_schemas.h"
#include "replication/space.h"
#include "replication/writer.h"
#include "sim/explore/literal_merge.h"
#include "sim/explore/merge_model.h"
#include "store/memory_store.h"

namespace witan::sim {

namespace {

using namespace replication;

constexpr std::string_view kAgentRow = "agent";

std::string writerOf(std::size_t device) { return writerName(std::string(1, static_cast<char>('a' + device)), 1); }

// F1's: a failure, and what came after it.
void change(AgentState& state, MergeChange change) {
  const bool fails = change == MergeChange::fails;
  state.lifecycle = fails ? Lifecycle::dormant : Lifecycle::active;
  state.consecutiveFailureCount = fails ? 3 : 0;
  state.schedule.nextWakeAt = fails ? 5 : 10;
  state.schedule.sleepUntil = fails ? 9 : 0;
}

std::string words(const AgentState& state) {
  return std::string(toString(state.lifecycle)) + ", " + std::to_string(state.consecutiveFailureCount) +
         " failures, wakes at " + std::to_string(state.schedule.nextWakeAt.value_or(0)) + ", sleeps until " +
         std::to_string(state.schedule.sleepUntil);
}

std::string words(const VectorClock& clock) {
  std::string text;
  for (const auto& [host, counter] : clock.entries())
    text += (text.empty() ? "" : " ") + host.substr(0, 1) + ":" + std::to_string(counter);
  return "{" + text + "}";
}

// --- seed 003

// Text: the clock and the state, "" for none.
class LiteralMerge final : public MergeRule {
 public:
  std::string nothing() const override { return {}; }

  std::string write(std::size_t device, const std::string& held, MergeChange what, MergeWrite& made) const override {
    AgentView view = read(held);
    const std::string self = writerOf(device);
    made.dot = {self, view.vc.at(self) + 1};
    view.vc.raise(self, made.dot.counter);
    change(view.state, what);
    made.context = view.vc;
    made.state = view.state;
    return text(view);
  }
  std::string receive(const std::string& held, const MergeWrite& write) const override {
    const AgentView theirs{write.context, write.state};
    return text(held.empty() ? theirs : literal::seedMerge(read(held), theirs, nullptr));
  }
  std::string shown(const std::string& held) const override {
    if (held.empty()) return "nothing";
    const AgentView view = read(held);
    return words(view.state) + ", clock " + words(view.vc);
  }
  std::string problem(const std::string&, const std::vector<const MergeWrite*>&) const override { return {}; }

 private:
  static std::string text(const AgentView& view) {
    std::string out;
    for (const auto& [host, counter] : view.vc.entries()) out += host + " " + std::to_string(counter) + "\n";
    return out + "\n" + encodeAgentState(view.state, "");
  }
  static AgentView read(const std::string& held) {
    AgentView view;
    if (held.empty()) return view;
    std::string_view rest = held;
    while (rest.front() != '\n') {
      const std::string line(rest.substr(0, rest.find('\n')));
      view.vc.set(line.substr(0, line.find(' ')), std::stoull(line.substr(line.find(' '))));
      rest.remove_prefix(line.size() + 1);
    }
    auto state = decodeAgentState(rest.substr(1), "");
    WITAN_CHECK(state.ok(), "what was encoded can be decoded");
    view.state = *std::move(state);
    return view;
  }
};

// --- ours

// A space on a store in memory: text is its rows, key and value after their lengths.
class Shelf {
 public:
  explicit Shelf(const std::string& held) {
    store::WriteBatch batch;
    for (std::string_view rest = held; !rest.empty();) {
      const std::string_view key = take(rest), value = take(rest);
      batch.put(key, value);
    }
    WITAN_CHECK(store_.writeSynced(batch).ok() && space_.load().ok(), "a space reads what it wrote");
  }
  Space& space() { return space_; }
  std::string text() {
    space_.completeBatch();
    WITAN_CHECK(store_.writeSynced(pending_).ok(), "a store in memory works");
    std::string out;
    const Status walked = store_.scan("", {}, [&](std::string_view key, std::string_view value) {
      for (const std::string_view part : {key, value}) out += std::to_string(part.size()) + " " + std::string(part);
      return true;
    });
    WITAN_CHECK(walked.ok(), "a store in memory works");
    return out;
  }

 private:
  static std::string_view take(std::string_view& rest) {
    const std::size_t space = rest.find(' ');
    const std::size_t size = std::stoull(std::string(rest.substr(0, space)));
    const std::string_view part = rest.substr(space + 1, size);
    rest.remove_prefix(space + 1 + size);
    return part;
  }

  store::MemoryStore store_;
  store::WriteBatch pending_;
  FingerprintKey key_{"explore"};
  Space space_{store_, "s/", key_, recordSchemas(), pending_};
};

class WitanMerge final : public MergeRule {
 public:
  // The writers are known beforehand, so that their numbers don't tell who was met first.
  std::string nothing() const override {
    Shelf shelf("");
    for (std::size_t device = 0; device < 4; ++device)
      WITAN_CHECK(shelf.space().intern(writerOf(device)).ok(), "a space takes four writers");
    return shelf.text();
  }

  std::string write(std::size_t device, const std::string& held, MergeChange what, MergeWrite& made) const override {
    Shelf shelf(held);
    Space& space = shelf.space();
    const std::string self = writerOf(device);
    const std::vector<Version> before = versions(space);
    auto seen = viewOf(before, nullptr);
    WITAN_CHECK(seen.ok() && space.become(self).ok(), "bodies that we wrote are readable");
    made.state = seen->has_value() ? (*seen)->state : AgentState{};
    change(made.state, what);
    const bool removal = what == MergeChange::isRemoved;
    const Write row{Kind::agentState, std::string(kAgentRow), removal ? "" : encodeAgentState(made.state, self),
                    removal};
    auto dot = space.commit({&row, 1});
    WITAN_CHECK(dot.ok(), "a small commit is taken");
    made.dot = *dot;
    for (const Version& version : before) made.context.join(version.context);
    made.context.raise(dot->host, dot->counter);
    return shelf.text();
  }

  std::string receive(const std::string& held, const MergeWrite& write) const override {
    Shelf shelf(held);
    Space& space = shelf.space();
    Context context;
    const auto number = [&](const std::string& name) {
      auto writer = space.intern(name);
      WITAN_CHECK(writer.ok(), "a space takes four writers");
      return *writer;
    };
    for (const auto& [host, counter] : write.context.entries())
      if (host != write.dot.host) context.push_back({number(host), counter});
    const bool removal = write.change == MergeChange::isRemoved;
    const std::string body = removal ? "" : encodeAgentState(write.state, write.dot.host);
    space.receive({Kind::agentState, kAgentRow, number(write.dot.host), write.dot.counter, removal, &context, body});
    return shelf.text();
  }

  std::string shown(const std::string& held) const override {
    Shelf shelf(held);
    const std::vector<Version> there = versions(shelf.space());
    auto view = viewOf(there, nullptr);
    if (!view.ok()) return view.error().message;
    std::string text = view->has_value() ? words((*view)->state) : there.empty() ? "nothing" : "removed";
    for (const Version& version : there) text += (&version == &there.front() ? ", holds " : " ") + name(version.dot);
    return text;
  }

  // Exactly the writes that no other one's author had seen.
  std::string problem(const std::string& held, const std::vector<const MergeWrite*>& received) const override {
    Shelf shelf(held);
    if (Status sound = shelf.space().checkIntegrity(); !sound.ok()) return sound.error().message;
    const std::vector<Version> there = versions(shelf.space());
    const auto holds = [&](const MergeWrite& write) {
      for (const Version& version : there)
        if (version.dot == write.dot) return true;
      return false;
    };
    std::size_t maximal = 0;
    for (const MergeWrite* write : received) {
      const MergeWrite* later = nullptr;
      for (const MergeWrite* other : received)
        if (other != write && other->context.covers(write->dot)) later = other;
      if (later == nullptr && !holds(*write)) return name(write->dot) + " is lost: nobody who wrote had seen it";
      if (later != nullptr && holds(*write)) return name(write->dot) + " is back, after " + name(later->dot);
      maximal += later == nullptr ? 1 : 0;
    }
    return there.size() == maximal ? "" : "something is held that nobody sent";
  }

 private:
  static std::string name(const Dot& dot) { return dot.host.substr(0, 1) + ":" + std::to_string(dot.counter); }
  static std::vector<Version> versions(Space& space) {
    auto held = space.versions(Kind::agentState, kAgentRow);
    WITAN_CHECK(held.ok(), "a space reads what it wrote");
    return *std::move(held);
  }
};

}  // namespace

std::unique_ptr<MergeRule> literalMerge() { return std::make_unique<LiteralMerge>(); }
std::unique_ptr<MergeRule> witanMerge() { return std::make_unique<WitanMerge>(); }

}  // namespace witan::sim
