// Wakes: matching a batch against many subscriptions, and the whole life of wakes without their episodes.
//
//   witan_wake_bench match [--subscriptions N] [--sharing K] [--batches B]
//   witan_wake_bench wakes [--edits N] [--agents A]
//
// Processor time of the thread. One line of JSON.
#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "agents/wake/wake_center.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_schemas.h"
#include "store/memory_store.h"

namespace witan::agents {
namespace {

using replication::DatabaseName;

double cpuUs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

template <class T>
T orDie(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return *std::move(result);
}

struct Arguments {
  std::map<std::string, std::string> values;
  std::size_t number(const std::string& name, std::size_t otherwise) const {
    const auto at = values.find(name);
    return at == values.end() ? otherwise : std::strtoull(at->second.c_str(), nullptr, 10);
  }
};

NotificationToken token(std::string type) {
  return {TokenClass::subtypeToken, std::string(replication::kJournalNamespace), std::move(type)};
}

// Every batch has three tokens: its entity's, its type's, and one nobody asks for; K subscriptions share its type.
int match(const Arguments& arguments) {
  const std::size_t n = arguments.number("subscriptions", 100'000);
  const std::size_t sharing = arguments.number("sharing", 10);
  const std::size_t batches = arguments.number("batches", 10'000);
  replication::SubscriptionIndex index;
  for (std::size_t i = 0; i < n; ++i)
    orDie(index.add({"s" + std::to_string(i),
                     "agent-" + std::to_string(i % 1000),
                     "",
                     {{token("type-" + std::to_string(i / sharing))}, {}},
                     {}}));
  std::vector<replication::NotificationBatch> made;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto body = orDie(replication::batchBodyOf({"b",
                                                      {{"journalEntity", "e" + std::to_string(i), ChangeOrigin::local}},
                                                      {token("type-" + std::to_string(i * 7919 % (n / sharing))),
                                                       {TokenClass::entityId, std::nullopt, "e" + std::to_string(i)},
                                                       {TokenClass::semanticKey, std::nullopt, "unheard"}},
                                                      {},
                                                      ""}));
    made.push_back(
        orDie(replication::batchOf({{"host@00000001", i + 1}, {}, orDie(replication::encodeRecord(body)), false})));
  }
  const auto noFetch = [](const std::string&) -> Result<std::optional<replication::Entity>> {
    return std::optional<replication::Entity>();
  };
  std::size_t wakes = 0;
  const double begin = cpuUs();
  for (const auto& batch : made)
    wakes += orDie(index.match(batch, "main", noFetch, [](const replication::Subscription&) { return true; })).size();
  const double us = (cpuUs() - begin) / static_cast<double>(batches);
  std::printf("{\"subscriptions\":%zu,\"sharing\":%zu,\"wakes\":%zu,\"usPerBatch\":%.2f}\n", n, sharing, wakes, us);
  return wakes == batches * sharing ? 0 : 1;
}

// Each edit wakes one agent; matched, queued, started and ended, with all records, a flush every round.
int wakes(const Arguments& arguments) {
  const std::size_t edits = arguments.number("edits", 20'000);
  const std::size_t agents = arguments.number("agents", 8);
  store::MemoryStore journal, agentStore;
  replication::ReplicaOptions options;
  options.cluster = "bench", options.clusterKey = "key", options.device = "a", options.trustStore = true;
  options.freshTag = [] { return 1u; };
  const auto replica =
      orDie(replication::LocalReplica::open(journal, agentStore, replication::recordSchemas(), options));
  WakeCenter center(*replica, {});
  const Now now{{1'700'000'000'000'000}, 0};
  orDie(center.load(now));
  std::vector<AgentSpec> specs(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    specs[i].id = "agent-" + std::to_string(i);
    specs[i].subscriptions.push_back({"s", "", {{token("type-" + std::to_string(i))}, {}}, {}, false});
    orDie(center.add(specs[i]));
  }
  center.setDevices({"a"}, {}, now);
  replication::Space& space = *orDie(replica->database(DatabaseName::journal).space("main"));
  double us = 0;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < edits; i += agents) {
    for (std::size_t k = 0; k < agents; ++k) {
      replication::JournalBody body;
      body.type = "type-" + std::to_string(k), body.payload = "{}", body.author = "bench", body.lamport = 1;
      const replication::JournalChange change{"e" + std::to_string(i + k), body, body.type};
      const auto writes = orDie(replication::journalWrites(space, {&change, 1}));
      orDie(replica->commit(DatabaseName::journal, "main", writes));
    }
    orDie(replica->flush());
    const double begin = cpuUs();
    orDie(center.takeEvents(now));
    orDie(center.tick(now));
    const auto started = orDie(center.takeRunnable(now));
    orDie(replica->flush());
    center.durable();
    for (const WakeJob& job : started) orDie(center.ended(job.key(), replication::WakeStatus::completed, "", now));
    orDie(replica->flush());
    us += cpuUs() - begin;
    ran += started.size();
  }
  std::printf("{\"wakes\":%zu,\"agents\":%zu,\"usPerWake\":%.2f}\n", ran, agents, us / static_cast<double>(ran));
  return ran >= edits ? 0 : 1;
}

}  // namespace
}  // namespace witan::agents

int main(int argc, char** argv) {
  using namespace witan::agents;
  const std::string what = argc > 1 ? argv[1] : "";
  Arguments arguments;
  for (int i = 2; i + 1 < argc; i += 2) arguments.values[std::string(argv[i]).substr(2)] = argv[i + 1];
  if (what == "match") return match(arguments);
  if (what == "wakes") return wakes(arguments);
  std::fprintf(stderr, "usage: witan_wake_bench match|wakes [--subscriptions N] [--sharing K] [--edits N] ...\n");
  return 2;
}
