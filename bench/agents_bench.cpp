// Agents in numbers, on RocksDB:
//
//   witan_agents_bench hosted [--agents N] [--turns N] [--dir DIR]   memory of a device that hosts agents with memory
//   witan_agents_bench inbox [--items N] [--dir DIR]                 the first page of an inbox
//
// `hosted`: each agent is spoken to N times and remembers (workedMb; givenBackMb: after the allocator gave back what it
// did not use, as a node does every ten minutes); then the process opens the stores anew, and wakes one agent.
// With --turns 0 it only does the latter, on a folder that is there: the memory of a process that was just started. The
// stores are as a node has them.
// `inbox`: approvals that wait; what a page needs: the index brought up to date, and the first hundred items read.
// One line of JSON.
#include <malloc.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agents/entry_agent.h"
#include "agents/host/agent_host.h"
#include "bench/saga_device.h"
#include "node/data_dir/replica_store.h"
#include "node/inbox/inbox_index.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"

namespace witan {
namespace {

using namespace replication;
using agents::AgentSpec;
using bench::must;

// Answers with what it remembers, in a few words.
class Friend final : public agents::Agent {
 public:
  explicit Friend(std::string id) {
    spec_.id = std::move(id), spec_.version = "1", spec_.what = "remembers", spec_.category = "bench";
    spec_.subscriptions = {agents::onEntries(spec_.id)};
    spec_.remembers = true;
  }
  const AgentSpec& spec() const override { return spec_; }
  agents::Turn step(const json::value&, const agents::Input& input) const override {
    const std::size_t known = canonicalJson(input.content.at("memory")).size();
    return {nullptr, {}, agents::Finish{concat("I remember ", known, " bytes of what we said"), {}, {}, {}, false}};
  }

 private:
  AgentSpec spec_;
};

constexpr std::int64_t kBeginMs = 1'774'252'800'000;
Now at(std::int64_t ms) { return {Time{(kBeginMs + ms) * 1000}, ms}; }

struct Hosted {
  Hosted(const std::string& dir, const std::vector<std::unique_ptr<Friend>>& friends)
      : device(bench::openSagaDevice(dir, node::kReplicaStore)), host(*device.replica, gate, {}) {
    std::vector<const agents::Agent*> all;
    for (const auto& one : friends) all.push_back(one.get());
    must(host.load(all, at(0)), "load");
    host.setDevices({"device"}, {}, at(0));
  }
  void settle(std::int64_t ms) {
    for (int rounds = 0; rounds < 1'000'000; ++rounds) {
      must(host.work(at(ms)), "work");
      must(device.replica->flush(), "flush");
      host.journalDurable(at(ms));
      agents::HostEffects out;
      must(host.agentsDurable(at(ms), out), "durable");
      if (host.quiet()) return;
    }
  }
  agents::episode::LocalGate gate;
  bench::SagaDevice device;
  agents::AgentHost host;
};

double residentMb() { return static_cast<double>(bench::residentBytes()) / 1e6; }

int hosted(const bench::Arguments& arguments) {
  const std::size_t count = arguments.number("--agents", 10'000), turns = arguments.number("--turns", 3);
  const std::string dir = arguments.text("--dir", "agents-bench");
  if (turns > 0) std::filesystem::remove_all(dir);
  std::vector<std::unique_ptr<Friend>> friends;
  for (std::size_t i = 0; i < count; ++i) friends.push_back(std::make_unique<Friend>(concat("friend-", i)));
  double seconds = 1, worked = 0, given = 0;
  if (turns > 0) {
    Hosted home(dir, friends);
    const bench::Stopwatch watch;
    const std::string words(200, 'w');
    for (std::size_t turn = 0; turn < turns; ++turn)
      for (std::size_t i = 0; i < count; ++i) {
        must(home.host.userTurn(friends[i]->spec().id, "s", std::to_string(turn), concat(words, turn), at(0)), "turn");
        if (i % 500 == 499 || i + 1 == count) home.settle(0);
      }
    seconds = watch.seconds();
    worked = residentMb();
    ::malloc_trim(0);
    given = residentMb();
  }
  const bench::Stopwatch opening;
  Hosted home(dir, friends);
  home.settle(0);
  const double opened = opening.seconds();
  must(home.host.userTurn(friends.front()->spec().id, "s", "last", "and now?", at(0)), "turn");
  home.settle(0);
  std::printf(
      "{\"agents\":%zu,\"turns\":%zu,\"runsPerSecond\":%.0f,\"workedMb\":%.1f,\"givenBackMb\":%.1f,"
      "\"openSeconds\":%.2f,\"residentMb\":%.1f}\n",
      count, turns, static_cast<double>(count * turns) / seconds, worked, given, opened, residentMb());
  return 0;
}

int inbox(const bench::Arguments& arguments) {
  const std::size_t items = arguments.number("--items", 100'000);
  const std::string dir = arguments.text("--dir", "inbox-bench");
  std::filesystem::remove_all(dir);
  bench::SagaDevice device = bench::openSagaDevice(dir);
  Space& records = *must(device.replica->database(DatabaseName::agents).space("main"), "space");
  node::InboxIndex index(*device.replica, "main");
  for (std::size_t i = 0; i < items; ++i) {
    ApprovalBody body;
    body.operationId = sha256(concat("operation ", i));
    body.digest = body.runKey = sha256(concat("shown ", i));
    body.agentId = "clerk";
    body.what = R"({"arguments":{"to":"somebody"},"tool":"mail.send"})";
    body.atMs = kBeginMs + static_cast<std::int64_t>(i);
    const Write write = must(recordWrite(toHex(body.operationId), body), "approval");
    must(device.replica->commit(DatabaseName::agents, "main", {&write, 1}), "commit");
    if (i % 1'000 == 999) must(device.replica->flush(), "flush");
  }
  must(device.replica->flush(), "flush");
  const bench::Stopwatch first;
  must(index.look(nullptr), "look");
  const double built = first.seconds();
  std::vector<double> pages;
  for (int page = 0; page < 101; ++page) {
    const bench::Stopwatch watch;
    must(index.look(nullptr), "look");
    std::size_t read = 0;
    for (const node::InboxPlace& place : index.of(node::InboxKind::approval)) {
      const std::string key = node::InboxIndex::partsOf(place.id)->second;
      const auto versions = must(records.versions(Kind::approval, key), "versions");
      if (!approvalViewOf(must(OperationId::parse(key), "id"), versions).shown || ++read == 100) break;
    }
    if (read != std::min<std::size_t>(items, 100)) bench::fail("a page is not full");
    pages.push_back(1e3 * watch.seconds());
  }
  std::printf("{\"items\":%zu,\"indexSeconds\":%.3f,\"pageMsP50\":%.2f,\"pageMsP99\":%.2f}\n", items, built,
              bench::median(pages), bench::quantile(pages, 0.99));
  return 0;
}

}  // namespace
}  // namespace witan

int main(int argc, char** argv) {
  using namespace witan;
  const bench::Arguments arguments(argc, argv, {"--agents", "--turns", "--items", "--dir"}, {"hosted", "inbox"});
  return arguments.verb() == "hosted" ? hosted(arguments) : inbox(arguments);
}
