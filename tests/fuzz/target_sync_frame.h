// Any bytes as the frames of a peer: a session ends or goes on, the replica's promises stand either way, and what was
// made durable reads back. The same bytes are tried as they are, after a greeting, and by a device that asks for seals.
#pragma once

#include <memory>
#include <string>

#include "base/check.h"
#include "replica/core/row_proofs.h"
#include "replication/records/record_schemas.h"
#include "replication/sync_session.h"
#include "store/memory_store.h"
#include "tests/fuzz/target_owner_proofs.h"

namespace witan::fuzz {

inline std::unique_ptr<replication::LocalReplica> corpusReplica(store::MemoryStore& journal, store::MemoryStore& agents,
                                                                bool keys = false) {
  replication::ReplicaOptions options;
  options.cluster = "test";
  options.clusterKey = "key";
  options.device = "victim";
  options.trustStore = true;
  options.freshTag = [] { return 1u; };
  if (keys) options.rowKeys = node::rowKeysOf(std::make_shared<CorpusKeys>(), "test");
  auto opened = replication::LocalReplica::open(journal, agents, replication::recordSchemas(), std::move(options));
  WITAN_CHECK(opened.ok(), "what a replica made durable reads back");
  return *std::move(opened);
}

inline std::string corpusGreeting() {
  using namespace replication;
  WordWriter words;
  std::string out, rows;
  Hello hello;
  hello.window = 1 << 20;
  hello.cluster = "test";
  hello.device = "peer";
  hello.live = true;
  appendFrame(out, words, hello);
  Spaces spaces;
  spaces.spaces.emplace_back();
  spaces.spaces[0].database = 1;
  spaces.spaces[0].scope = "main";
  appendFrame(out, words, spaces);
  appendWriterRow(rows, "peer@00000001");
  appendClockRow(rows, RowTag::commit, {});
  appendFrame(out, words, Writers{0, asData(rows)});
  return out;
}

inline void feedFrames(replication::SyncSession& session, std::string_view bytes) {
  using namespace replication;
  for (std::int64_t now = 0; !bytes.empty() && session.state() != SessionState::closed; ++now) {
    std::size_t size = bytes.size();
    if (bytes.size() >= kFrameHeaderBytes)
      if (const auto header = readFrameHeader(bytes, kMaxFrameBytes); header.ok())
        size = std::min(size, kFrameHeaderBytes + header->length);
    (void)session.receive(bytes.substr(0, size), now);
    bytes.remove_prefix(size);
    std::string out;
    session.produce(out, 1 << 20, now);
    WITAN_CHECK(out.size() < 32u << 20, "an answer is bounded");
  }
}

inline void fuzzSyncFrame(std::string_view bytes) {
  using namespace replication;
  if (bytes.size() > 1 << 20) return;
  for (const auto& [greeted, keys] : {std::pair{false, false}, {true, false}, {true, true}}) {
    store::MemoryStore journal, agents;
    auto replica = corpusReplica(journal, agents, keys);
    const Write note{Kind::summary, "mine", {}, true};
    WITAN_CHECK(replica->commit(DatabaseName::agents, "main", {&note, 1}).ok(), "a local write stands");
    std::map<std::string, Digest> digests;
    {
      SyncSession session(*replica, {}, 0);
      if (greeted) feedFrames(session, corpusGreeting());
      feedFrames(session, bytes);
    }
    WITAN_CHECK(replica->flush().ok(), "a store in memory takes it");
    for (const std::string& id : replica->spaceIds()) {
      Space& space = *replica->findSpace(id);
      WITAN_CHECK(space.checkIntegrity().ok(), "a space keeps its promises");
      digests[id] = space.digest();
    }
    replica = corpusReplica(journal, agents, keys);
    for (const auto& [id, digest] : digests)
      WITAN_CHECK(replica->findSpace(id) != nullptr && replica->findSpace(id)->digest() == digest,
                  "what was made durable reads back");
  }
}

}  // namespace witan::fuzz
