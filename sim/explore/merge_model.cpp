#include "sim/explore/merge_model.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/dense.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_schemas.h"
#include "replication/space.h"
#include "replication/writer.h"
#include "sim/explore.h"
#include "sim/explore/literal_merge.h"
#include "store/memory_store.h"

namespace witan::sim {

using namespace replication;

namespace {

// What an agent may do to its state.
enum class MergeChange : std::uint8_t { fails, wakesUp, isRemoved };

// One write: what everybody gets to see of it.
struct MergeWrite {
  Dot dot;
  VectorClock context;  // what its author had seen, and the dot
  MergeChange change = MergeChange::fails;
  AgentState state;  // meaningless for a removal
};

// What a device keeps, as text; equal texts behave alike.
class MergeRule {
 public:
  virtual ~MergeRule() = default;
  virtual std::string nothing() const = 0;
  virtual std::string write(std::size_t device, const std::string& held, MergeChange change,
                            MergeWrite& made) const = 0;
  virtual std::string receive(const std::string& held, const MergeWrite& write) const = 0;
  // For people; equal if and only if the device shows its agents the same.
  virtual std::string shown(const std::string& held) const = 0;
  // What is wrong with it after all of these writes were received, in any order; "" if nothing.
  virtual std::string problem(const std::string& held, const std::vector<const MergeWrite*>& received) const = 0;
};

std::string nameOfDevice(std::size_t device) { return std::string(1, static_cast<char>('a' + device)); }

std::string nameOf(const MergeWrite& write) { return concat(write.dot.host.substr(0, 1), ":", write.dot.counter); }

const char* toString(MergeChange change) {
  switch (change) {
    case MergeChange::fails: return "dormant after 3 failures";
    case MergeChange::wakesUp: return "active again";
    case MergeChange::isRemoved: break;
  }
  return "removed";
}

std::string textOf(const MergeWrite& write) {
  std::string text = nameOf(write) + "|" + toString(write.change);
  for (const auto& [host, counter] : write.context.entries()) text += concat("|", host, ":", counter);
  return concat(text, "|", write.state.consecutiveFailureCount, "|", write.state.schedule.nextWakeAt.value_or(0), "|",
                write.state.schedule.sleepUntil);
}

// ---- a device and a snapshot that reaches it: as seed 003 says, and as Witan does

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
  return concat(toString(state.lifecycle), ", ", state.consecutiveFailureCount, " failures, wakes at ",
                state.schedule.nextWakeAt.value_or(0), ", sleeps until ", state.schedule.sleepUntil);
}

std::string words(const VectorClock& clock) {
  std::string text;
  for (const auto& [host, counter] : clock.entries())
    text += concat(text.empty() ? "" : " ", host.substr(0, 1), ":", counter);
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
    for (const auto& [host, counter] : view.vc.entries()) out += concat(host, " ", counter, "\n");
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
      for (const std::string_view part : {key, value}) out += concat(part.size(), " ", part);
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
  static std::string name(const Dot& dot) { return concat(dot.host.substr(0, 1), ":", dot.counter); }
  static std::vector<Version> versions(Space& space) {
    auto held = space.versions(Kind::agentState, kAgentRow);
    WITAN_CHECK(held.ok(), "a space reads what it wrote");
    return *std::move(held);
  }
};

// ---- the model

class MergeModel final : public ExploreModel {
 public:
  MergeModel(std::unique_ptr<MergeRule> rule, MergeBounds bounds) : rule_(std::move(rule)), bounds_(bounds) {}

  Explored start() override {
    Explored state(bounds_.devices, held_(rule_->nothing()));
    state.resize(2 * bounds_.devices, 0);
    return state;
  }

  void steps(const Explored& from, const Visit& visit) override {
    walk(from, [&](const Step& step) { visit(after(from, step)); });
  }

  std::string nameOf(const Explored& from, std::size_t n) override {
    std::string name;
    walk(from, [&](const Step& step) {
      if (n-- != 0) return;
      name = nameOfDevice(step.device);
      if (step.receives)
        name += " receives " + sim::nameOf(writes_[from[2 * bounds_.devices + step.write]]);
      else
        name += concat(" writes ", name, ":", writesOf(from, step.device) + 1, ", ",
                       toString(static_cast<MergeChange>(step.write)));
    });
    return name;
  }

  std::string problem(const Explored& state) override {
    for (std::size_t i = 0; i < bounds_.devices; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (state[bounds_.devices + i] == state[bounds_.devices + j] && shown(state[i]) != shown(state[j]))
          return nameOfDevice(j) + " and " + nameOfDevice(i) + " have received the same and show different states";
      std::vector<std::uint32_t> received;
      for (std::size_t n = 2 * bounds_.devices; n < state.size(); ++n)
        if ((state[bounds_.devices + i] >> (n - 2 * bounds_.devices) & 1) != 0) received.push_back(state[n]);
      std::ranges::sort(received);
      const auto [at, fresh] = problems_.try_emplace({state[i], received});
      if (fresh) {
        std::vector<const MergeWrite*> writes;
        for (const std::uint32_t n : received) writes.push_back(&writes_[n]);
        at->second = rule_->problem(held_.text(state[i]), writes);
      }
      if (!at->second.empty()) return nameOfDevice(i) + ": " + at->second;
    }
    return {};
  }

  std::string describe(const Explored& state) override {
    std::string text;
    for (std::size_t i = 0; i < bounds_.devices; ++i)
      text += (i == 0 ? "" : "\n") + nameOfDevice(i) + ": " + shown(state[i]);
    return text;
  }

 private:
  // A state: what each device holds; which of the writes it has received, as bits; the writes, in their order.
  struct Step {
    std::size_t device = 0;
    std::uint32_t write = 0;  // number of the write in the state, or of the change
    bool receives = false;
  };

  void walk(const Explored& from, const std::function<void(const Step&)>& visit) const {
    const auto written = static_cast<std::uint32_t>(from.size() - 2 * bounds_.devices);
    for (std::size_t device = 0; device < bounds_.devices; ++device) {
      if (written < bounds_.writes && writesOf(from, device) < bounds_.writesEach)
        for (std::uint32_t change = 0; change < bounds_.changes; ++change) visit({device, change, false});
      for (std::uint32_t write = 0; write < written; ++write) visit({device, write, true});
    }
  }

  Explored after(const Explored& from, const Step& step) {
    Explored to = from;
    std::uint32_t& held = to[step.device];
    if (step.receives) {
      held = received(held, from[2 * bounds_.devices + step.write]);
      to[bounds_.devices + step.device] |= 1u << step.write;
      return to;
    }
    const auto [next, write] = wrote(step.device, held, step.write);
    held = next;
    to[bounds_.devices + step.device] |= 1u << (from.size() - 2 * bounds_.devices);
    to.push_back(write);
    return to;
  }

  std::size_t writesOf(const Explored& state, std::size_t device) const {
    std::size_t n = 0;
    for (std::size_t i = 2 * bounds_.devices; i < state.size(); ++i)
      n += writes_[state[i]].dot.host.substr(0, 1) == nameOfDevice(device) ? 1 : 0;
    return n;
  }

  std::pair<std::uint32_t, std::uint32_t> wrote(std::size_t device, std::uint32_t held, std::uint32_t change) {
    const auto [at, fresh] = wrote_.try_emplace({device, held, change});
    if (!fresh) return at->second;
    MergeWrite made;
    made.change = static_cast<MergeChange>(change);
    const std::string next = rule_->write(device, held_.text(held), made.change, made);
    const std::uint32_t number = names_(textOf(made));
    if (number == writes_.size()) writes_.push_back(std::move(made));
    return at->second = {held_(next), number};
  }

  std::uint32_t received(std::uint32_t held, std::uint32_t write) {
    const auto [at, fresh] = received_.try_emplace({held, write}, 0);
    if (fresh) at->second = held_(rule_->receive(held_.text(held), writes_[write]));
    return at->second;
  }

  const std::string& shown(std::uint32_t held) {
    const auto [at, fresh] = shown_.try_emplace(held);
    if (fresh) at->second = rule_->shown(held_.text(held));
    return at->second;
  }

  std::unique_ptr<MergeRule> rule_;
  const MergeBounds bounds_;
  Interner held_, names_;
  std::vector<MergeWrite> writes_;  // by the number of their text
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> wrote_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> received_;
  std::map<std::uint32_t, std::string> shown_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::string> problems_;
};

}  // namespace

std::unique_ptr<ExploreModel> literalMergeModel(const MergeBounds& bounds) {
  return std::make_unique<MergeModel>(std::make_unique<LiteralMerge>(), bounds);
}
std::unique_ptr<ExploreModel> witanMergeModel(const MergeBounds& bounds) {
  return std::make_unique<MergeModel>(std::make_unique<WitanMerge>(), bounds);
}

}  // namespace witan::sim
