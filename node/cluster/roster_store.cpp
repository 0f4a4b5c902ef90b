#include "node/cluster/roster_store.h"

#include "program/durable_file.h"
#include "replication/records/records.h"

namespace witan::node {

namespace {

constexpr const char* kRosterFile = "roster";

}  // namespace

Result<RosterStore> RosterStore::open(const std::filesystem::path& dir, const PublicKey& admin) {
  RosterStore rosters(dir / kRosterFile, admin);
  WITAN_TRY(document, readSmallFile(rosters.file_, replication::kMaxRecordBytes));
  if (!document)
    return Error{ErrorCode::notFound, "there is no " + rosters.file_.string(), "restore it, or join the cluster anew"};
  auto roster = readRoster(*document, admin);
  if (!roster.ok())
    return corrupt(rosters.file_.string() + " is damaged (" + roster.error().message + ")", "restore it from a copy");
  rosters.roster_ = std::move(*roster);
  rosters.document_ = std::move(*document);
  return rosters;
}

Result<RosterStore> RosterStore::create(const std::filesystem::path& dir, const PublicKey& admin,
                                        std::string document) {
  RosterStore rosters(dir / kRosterFile, admin);
  WITAN_TRY(roster, readRoster(document, admin));
  rosters.roster_ = std::move(roster);
  rosters.document_ = std::move(document);
  WITAN_DO(rosters.keep());
  return rosters;
}

const Status& RosterStore::keep() { return kept_ = replaceFile(file_, document_, 0644); }

Result<bool> RosterStore::adopt(std::string_view document) {
  if (document == document_) return false;
  WITAN_TRY(roster, readRoster(document, admin_));
  if (roster.version < roster_.version || (roster.version == roster_.version && document_ < document)) return false;
  roster_ = std::move(roster);
  document_ = std::string(document);
  (void)keep();
  return true;
}

Status RosterStore::publish(Roster next, const SigningKey& admin) {
  next.version = roster_.version + 1;
  WITAN_TRY(document, signRoster(next, admin));
  WITAN_DO(replaceFile(file_, document, 0644));  // first: a version that was given away is never given again
  roster_ = std::move(next);
  document_ = std::move(document);
  kept_ = okStatus();
  return okStatus();
}

}  // namespace witan::node
