// A device on RocksDB for the benchmarks of sagas: both databases of a replica in one folder. For bench/ only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench/bench_tools.h"
#include "replication/local_replica.h"
#include "replication/records/record_schemas.h"
#include "saga/saga_engine.h"
#include "store/rocks_store.h"

namespace witan::bench {

struct SagaDevice {
  std::unique_ptr<store::Store> journal, agents;
  std::unique_ptr<replication::LocalReplica> replica;
};

inline SagaDevice openSagaDevice(const std::string& dir, store::RocksOptions options = {}) {
  SagaDevice device;
  options.createIfMissing = true;
  std::filesystem::create_directories(dir);
  device.journal = must(store::openRocksStore(dir + "/journal", options), "journal");
  device.agents = must(store::openRocksStore(dir + "/agents", options), "agents");
  replication::ReplicaOptions replica;
  replica.cluster = "bench";
  replica.clusterKey = "key";
  replica.device = "device";
  replica.trustStore = true;
  replica.freshTag = [] { return 1u; };
  device.replica = must(replication::LocalReplica::open(*device.journal, *device.agents, replication::recordSchemas(),
                                                        std::move(replica)),
                        "replica");
  return device;
}

// One round as the composition has it.
inline void sagaRound(SagaDevice& device, saga::SagaEngine& engine, Now now) {
  must(device.replica->database(replication::DatabaseName::journal).flush(), "journal");
  engine.journalDurable(now);
  must(device.replica->database(replication::DatabaseName::agents).flush(), "agents");
  engine.agentsDurable(now);
}

inline saga::Intent sagaIntent(std::uint64_t n) {
  saga::Intent intent;
  intent.operation = sha256(concat("operation ", n));
  intent.run = sha256(concat("run ", n));
  intent.agentId = "agent";
  intent.tool = "journal.put";
  intent.scope = "main";
  intent.arguments = R"({"text":"what an agent writes down about a patient, some eighty bytes of it, more or less"})";
  intent.targets = {"entity"};
  return intent;
}

}  // namespace witan::bench
