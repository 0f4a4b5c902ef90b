#include "node/cluster/roster_book.h"

#include "program/durable_file.h"
#include "replication/records/records.h"

namespace witan::node {

namespace {

constexpr const char* kRosterFile = "roster";

}  // namespace

Result<RosterBook> RosterBook::open(const std::filesystem::path& dir, const PublicKey& admin) {
  RosterBook book(dir / kRosterFile, admin);
  WITAN_TRY(document, readSmallFile(book.file_, replication::kMaxRecordBytes));
  if (!document)
    return Error{ErrorCode::notFound, "there is no " + book.file_.string(), "restore it, or join the cluster anew"};
  auto roster = readRoster(*document, admin);
  if (!roster.ok())
    return corrupt(book.file_.string() + " is damaged (" + roster.error().message + ")", "restore it from a copy");
  book.roster_ = std::move(*roster);
  book.document_ = std::move(*document);
  return book;
}

Result<RosterBook> RosterBook::create(const std::filesystem::path& dir, const PublicKey& admin, std::string document) {
  RosterBook book(dir / kRosterFile, admin);
  WITAN_TRY(roster, readRoster(document, admin));
  book.roster_ = std::move(roster);
  book.document_ = std::move(document);
  WITAN_DO(book.keep());
  return book;
}

const Status& RosterBook::keep() { return kept_ = replaceFile(file_, document_, 0644); }

Result<bool> RosterBook::adopt(std::string_view document) {
  if (document == document_) return false;
  WITAN_TRY(roster, readRoster(document, admin_));
  if (roster.version < roster_.version || (roster.version == roster_.version && document_ < document)) return false;
  roster_ = std::move(roster);
  document_ = std::string(document);
  (void)keep();
  return true;
}

Status RosterBook::publish(Roster next, const SigningKey& admin) {
  next.version = roster_.version + 1;
  WITAN_TRY(document, signRoster(next, admin));
  WITAN_DO(replaceFile(file_, document, 0644));  // first: a version that was given away is never given again
  roster_ = std::move(next);
  document_ = std::move(document);
  kept_ = okStatus();
  return okStatus();
}

}  // namespace witan::node
