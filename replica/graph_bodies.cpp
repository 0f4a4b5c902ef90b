// GraphBodies: the bodies of messages and documents of graphs, as records of the agents' database.
#include <algorithm>

#include "replica/graph_runtime.h"
#include "replica/replica.h"
#include "replication/records/record_write.h"

namespace witan::node {

using replication::DatabaseName;
using replication::Kind;

namespace {

constexpr std::size_t kMostKeptKnown = 4'096;
constexpr JsonLimits kGraphBodyLimits{.bytes = replication::kMaxRecordBytes, .depth = 64};

// None: it is not here, or is not what it says.
std::optional<std::string> graphContentIn(replication::Space& space, const std::string& digest) {
  const auto versions = space.versions(Kind::graphMessage, digest);
  if (!versions.ok()) return std::nullopt;
  for (const replication::Version& version : *versions) {
    if (version.tombstone) continue;
    auto body = replication::decodeRecord<replication::GraphMessageBody>(version.body);
    if (body.ok() && graph::identityOf(body->content) == digest) return std::move(body->content);
  }
  return std::nullopt;
}

}  // namespace

replication::Space* GraphBodies::records() {
  auto space = replica_.database(DatabaseName::agents).space(scope_);
  return space.ok() ? *space : nullptr;
}

Status GraphBodies::keep(const std::vector<graph::Body>& bodies) {
  WITAN_TRY(space, replica_.database(DatabaseName::agents).space(scope_));
  std::vector<replication::Write> writes;
  std::set<std::string> fresh;
  std::size_t bytes = 0;
  const auto commit = [&]() -> Status {
    if (writes.empty()) return okStatus();
    WITAN_DO(replica_.commit(DatabaseName::agents, scope_, writes));
    writes.clear(), bytes = 0;
    return okStatus();
  };
  for (const graph::Body& body : bodies) {
    std::string content = canonicalJson(*body);
    const std::string digest = graph::identityOf(content);
    if (!fresh.insert(digest).second || isKept(*space, digest)) continue;
    if (bytes + content.size() > replication::kMaxCommitBytes / 2 || writes.size() == 256) WITAN_DO(commit());
    bytes += content.size();
    WITAN_TRY(write, replication::recordWrite(digest, replication::GraphMessageBody{std::move(content)}));
    writes.push_back(std::move(write));
  }
  return commit();
}

bool GraphBodies::isKept(replication::Space& space, const std::string& digest) {
  const replication::Record* record = space.table().find(Kind::graphMessage, digest);
  if (record == nullptr || std::ranges::all_of(record->versions, &replication::Held::tombstone)) return false;
  if (kept_.contains(digest)) return true;
  if (!graphContentIn(space, digest)) return false;
  if (kept_.size() >= kMostKeptKnown) kept_.clear();
  kept_.insert(digest);
  return true;
}

graph::Body GraphBodies::find(const std::string& digest) {
  replication::Space* space = records();
  const auto content = space == nullptr ? std::nullopt : graphContentIn(*space, digest);
  if (!content) return nullptr;
  auto value = parseJson(*content, kGraphBodyLimits);
  return value.ok() ? std::make_shared<const json::value>(*std::move(value)) : nullptr;
}

// One that is damaged, or a stranger's, is none.
bool GraphBodies::has(const std::string& digest) {
  replication::Space* space = records();
  return space != nullptr && graphContentIn(*space, digest).has_value();
}

std::shared_ptr<const graph::Document> GraphBodies::document(const std::string& digest) {
  const graph::Body body = find(digest);
  return body == nullptr ? nullptr : graph::readDocument(*body).document;
}

}  // namespace witan::node
