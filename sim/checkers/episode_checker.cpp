// Checker "episodes": reads at the end what each run wrote down of itself, and holds it against what its agent is meant
// to be able to do (here, in words of its own) and against what the tools outside have said.
#include <charconv>

#include "agents/json_members.h"
#include "replication/records/record_views.h"
#include "sim/check/episode_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"
#include "sim/sim_graph.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr Micros kInTime = 10 * kSecond;  // of an answer; agents wait twice as long

MeantTool put(std::size_t uses, std::vector<std::string> folders) {
  return {.action = true, .uses = uses, .folders = std::move(folders)};
}

// A mood of it is to fail.
bool weaverFails(const json::object& input) { return input.at("graph").at("body").at("mood") == 4; }

bool readsTooLittle(const json::object& input) {
  const json::value* fold = input.if_contains("fold");
  return fold != nullptr && agents::integerOf(*fold, "leftOut").value_or(0) > 0;
}

// `remembers`: there is the tool of the keeper, which is one of those that the clerk may call. `rationed`: the clerk
// has what is left of a day.
std::map<std::string, MeantAgent> meantAgents(bool remembers, bool rationed) {
  MeantAgent clerk{.tokens = kClerkTokens, .narrowed = rationed};
  clerk.tools = {
      {"journal.read", {}},
      {"journal.put", put(10, {"done/", "said/", "desk/"})},
      {"propose", {.action = true}},
      {"sim.ask", {.tokens = 10}},
      {"sim.mail", {.action = true, .fields = {"to", "text", "subject"}, .masked = {"subject"}, .confirmed = true}},
      {"sim.pay", {.action = true, .fields = {"to", "text"}, .asked = true}}};
  if (remembers) clerk.tools.emplace(kSumTool, MeantTool());
  MeantAgent keeper{.fails = readsTooLittle};
  keeper.tools = {{std::string(kSumTool), {.tokens = 10}}};
  MeantTool warden = put(2, {std::string(kWardenFolder), std::string(kWardenOther)});
  warden.rated = true;
  // The nodes of the graph grant it nothing.
  MeantAgent weaver{.tokens = 100, .narrowed = true, .fails = weaverFails};
  return {{"sim-clerk", clerk},
          {"sim-sealer", {.tools = {{"journal.put", put(1, {"seal/"})}}}},
          {"sim-herald", {.tools = {{"journal.put", put(1, {"told/"})}}, .byPeople = false}},
          {std::string(kSimWarden), {.tools = {{"journal.put", warden}}}},
          {std::string(kSimKeeper), keeper},
          {std::string(kSimWeaver), weaver}};
}

class EpisodeChecker final : public Checker {
 public:
  explicit EpisodeChecker(Cluster& cluster) : Checker(cluster) {}

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (call.operation) return;
    Asked& asked = asked_[at][name];
    ++asked.outside.calls;
    asked.at = c_.agenda().now();
  }

  void onToolAnswer(Seat& at, const ToolAnswer& answer) override {
    if (answer.call.operation) return;
    Asked& asked = asked_[at][ToolService::nameOf(answer.call)];
    AskedOutside::Answer& said = asked.outside.answers.emplace_back();
    if (answer.says == ToolSays::done && answer.content != kForgedAnswer) said.content = json::value(answer.content);
    said.tokens = answer.tokens;
    // A device whose disk is slow looks at it later.
    said.inTime = c_.agenda().now() - asked.at < kInTime && c_.plan().options.disk.syncMicros <= 1'000;
  }

  void atEnd() override {
    if (c_.plan().options.cluster.hosts == 0 || c_.members().empty()) return;
    Space* space = c_.members().front()->replica().data().findSpace("agents/main");
    if (space == nullptr) return;
    const auto meant =
        meantAgents(c_.plan().options.work.remarks > 0, hasDayBudget(c_.plan().options.cluster.retentionDays));
    TranscriptSeen seen;
    const auto judge = [&] {
      const auto agent = meant.find(seen.agent);
      if (seen.entries.empty() || agent == meant.end()) return;
      c_.probe("transcript read");
      if (const std::string wrong = checkEpisode(seen, agent->second); !wrong.empty()) c_.failed("episodes", wrong);
    };
    // What stands after a gap, or was written twice, is not read.
    for (const std::string& key : space->keys(Kind::message)) {
      const std::size_t slash = key.rfind('/');
      if (slash == std::string::npos || key.find('/') == slash) continue;
      if (key.compare(0, slash, seen.name) != 0) {
        judge();
        seen = seenOf(key.substr(0, slash));
      }
      if (!seen.device.empty() && numberOf(key, slash + 1) == seen.entries.size()) add(*space, key, seen);
    }
    judge();
  }

 private:
  struct Asked {
    AskedOutside outside;
    Micros at = 0;  // the last call
  };

  TranscriptSeen seenOf(const std::string& name) {
    const std::size_t slash = name.find('/');
    const auto run = RunKey::parse(name.substr(0, slash));
    if (!run.ok()) return {.name = name};
    TranscriptSeen seen{.name = name, .device = name.substr(slash + 1), .run = *run};
    seen.said = &c_.history().agents.said;
    Seat& at = c_.seat(ClusterSetup::deviceIndex(seen.device));
    const auto begun = at.begun.find(seen.run);
    seen.unconfirmed = begun == at.begun.end() || begun->second <= c_.history().agents.unconfirmedAt;
    const std::string first = seen.run.hex() + "/";
    auto& asked = asked_[at];
    for (auto one = asked.lower_bound(first); one != asked.end() && one->first.starts_with(first); ++one)
      seen.outside.emplace(one->first.substr(first.size()), one->second.outside);
    return seen;
  }

  static std::optional<std::uint64_t> numberOf(const std::string& key, std::size_t from) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(key.data() + from, key.data() + key.size(), number);
    return read.ec == std::errc() ? std::optional(number) : std::nullopt;
  }

  // Of a device that lies nothing is read, nor of one whose counters went back: it may have told a run twice, in parts.
  void add(Space& space, const std::string& key, TranscriptSeen& seen) {
    const std::uint32_t device = ClusterSetup::deviceIndex(seen.device);
    if (c_.isLiar(device) || c_.seat(device).sidecarRolledBack) return;
    auto versions = space.versions(Kind::message, key);
    if (!versions.ok()) return c_.failed("store", key + ": " + versions.error().message);
    if (versions->size() != 1 || versions->front().tombstone) return;
    const auto body = decodeRecord<MessageBody>(versions->front().body);
    const auto entry = body.ok() ? parseJson(body->content, kOwnJson) : Result<json::value>(body.error());
    if (!entry.ok()) return c_.failed("store", key + ": " + entry.error().message);
    seen.agent = body->agentId;
    seen.entries.push_back(entry->as_object());
  }

  PerDevice<std::map<std::string, Asked>> asked_;  // by run and span
};

}  // namespace

std::unique_ptr<Checker> makeEpisodeChecker(Cluster& cluster) { return std::make_unique<EpisodeChecker>(cluster); }

}  // namespace witan::sim
