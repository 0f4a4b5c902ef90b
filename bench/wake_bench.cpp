// Wakes: matching a batch against many subscriptions, and the whole life of wakes without their episodes.
//
//   witan_wake_bench match [--subscriptions N] [--sharing K] [--batches B]
//   witan_wake_bench wakes [--edits N] [--agents A]
//
// Processor time of the thread. One line of JSON.
#include <string>
#include <vector>

#include "agents/wake/wake_center.h"
#include "bench/bench_tools.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_schemas.h"
#include "store/memory_store.h"

namespace witan::agents {
namespace {

using bench::must;
using replication::DatabaseName;

NotificationToken token(std::string type) {
  return {TokenClass::subtypeToken, std::string(replication::kJournalNamespace), std::move(type)};
}

// Every batch has three tokens: its entity's, its type's, and one nobody asks for; K subscriptions share its type.
int match(const bench::Arguments& arguments) {
  const std::size_t n = arguments.number("--subscriptions", 100'000);
  const std::size_t sharing = arguments.number("--sharing", 10);
  const std::size_t batches = arguments.number("--batches", 10'000);
  replication::SubscriptionIndex index;
  for (std::size_t i = 0; i < n; ++i)
    must(index.add({concat("s", i), concat("agent-", i % 1000), "", {{token(concat("type-", i / sharing))}, {}}, {}}));
  std::vector<replication::NotificationBatch> made;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto body = must(replication::batchBodyOf({"b",
                                                     {{"journalEntity", concat("e", i), ChangeOrigin::local}},
                                                     {token(concat("type-", i * 7919 % (n / sharing))),
                                                      {TokenClass::entityId, std::nullopt, concat("e", i)},
                                                      {TokenClass::semanticKey, std::nullopt, "unheard"}},
                                                     {},
                                                     ""}));
    made.push_back(
        must(replication::batchOf({{"host@00000001", i + 1}, {}, must(replication::encodeRecord(body)), false})));
  }
  const auto noFetch = [](const std::string&) -> Result<std::optional<replication::Entity>> {
    return std::optional<replication::Entity>();
  };
  std::size_t wakes = 0;
  const bench::ThreadStopwatch watch;
  for (const auto& batch : made)
    wakes += must(index.match(batch, "main", noFetch, [](const replication::Subscription&) { return true; })).size();
  const double us = 1e6 * watch.seconds() / static_cast<double>(batches);
  std::printf("{\"subscriptions\":%zu,\"sharing\":%zu,\"wakes\":%zu,\"usPerBatch\":%.2f}\n", n, sharing, wakes, us);
  return wakes == batches * sharing ? 0 : 1;
}

// Each edit wakes one agent; matched, queued, started and ended, with all records, a flush every round.
int wakes(const bench::Arguments& arguments) {
  const std::size_t edits = arguments.number("--edits", 20'000);
  const std::size_t agents = arguments.number("--agents", 8);
  store::MemoryStore journal, agentStore;
  replication::ReplicaOptions options;
  options.cluster = "bench", options.clusterKey = "key", options.device = "a", options.trustStore = true;
  options.freshTag = [] { return 1u; };
  const auto replica =
      must(replication::LocalReplica::open(journal, agentStore, replication::recordSchemas(), options));
  WakeCenter center(*replica, {});
  const Now now{{1'700'000'000'000'000}, 0};
  must(center.load(now));
  std::vector<AgentSpec> specs(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    specs[i].id = concat("agent-", i);
    specs[i].subscriptions.push_back({"s", "", {{token(concat("type-", i))}, {}}, {}, false});
    must(center.add(specs[i]));
  }
  center.setDevices({"a"}, {}, now);
  replication::Space& space = *must(replica->database(DatabaseName::journal).space("main"));
  double us = 0;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < edits; i += agents) {
    for (std::size_t k = 0; k < agents; ++k) {
      replication::JournalBody body;
      body.type = concat("type-", k), body.payload = "{}", body.author = "bench", body.lamport = 1;
      const replication::JournalChange change{concat("e", i + k), body, body.type};
      const auto writes = must(replication::journalWrites(space, {&change, 1}));
      must(replica->commit(DatabaseName::journal, "main", writes));
    }
    must(replica->flush());
    const bench::ThreadStopwatch watch;
    must(center.takeEvents(now));
    must(center.tick(now));
    const auto started = must(center.takeRunnable(now));
    must(replica->flush());
    center.durable();
    for (const WakeJob& job : started) must(center.ended(job.key(), replication::WakeStatus::completed, "", now));
    must(replica->flush());
    us += 1e6 * watch.seconds();
    ran += started.size();
  }
  std::printf("{\"wakes\":%zu,\"agents\":%zu,\"usPerWake\":%.2f}\n", ran, agents, us / static_cast<double>(ran));
  return ran >= edits ? 0 : 1;
}

}  // namespace
}  // namespace witan::agents

int main(int argc, char** argv) {
  using namespace witan;
  const bench::Arguments arguments(argc, argv, {"--subscriptions", "--sharing", "--batches", "--edits", "--agents"},
                                   {"match", "wakes"});
  return arguments.verb() == "match" ? agents::match(arguments) : agents::wakes(arguments);
}
