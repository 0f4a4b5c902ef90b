#include "node/market/market_passes.h"

#include "node/cluster/device_key.h"
#include "node/market/market_revoked.h"
#include "replication/records/record_write.h"
#include "replication/records/signed_document.h"

namespace witan::node {

using replication::DatabaseName;
using replication::DocumentKind;
using replication::Kind;

namespace {

constexpr const char* kPassScope = "main";
constexpr const char* kRevokedList = "revoked";  // in the place of a device, whose ids are hex

// The newest one that this root has signed; version 0: there is none.
replication::SignedDocumentBody newestPass(replication::LocalReplica& replica, const std::string& device,
                                           const PublicKey& root) {
  const std::string name = concat(device, kPassDocuments);
  replication::Space* space = replica.database(DatabaseName::agents).find(kPassScope);
  const auto versions = space == nullptr ? Result<std::vector<replication::Version>>(notFound("none"))
                                         : space->versions(Kind::policy, name);
  if (!versions.ok()) return {};
  const auto view = replication::documentViewOf(DocumentKind::policy, name, root, *versions);
  return view.current ? view.current->document : replication::SignedDocumentBody{};
}

Status publishWord(replication::LocalReplica& replica, const std::string& device, std::uint64_t version,
                   std::string content, const SigningKey& root) {
  replication::SignedDocumentBody next{.kind = DocumentKind::policy,
                                       .name = concat(device, kPassDocuments),
                                       .version = version,
                                       .content = std::move(content)};
  WITAN_TRY(document, replication::sign(std::move(next), root));
  WITAN_TRY(write, replication::recordWrite(document.name, document));
  WITAN_DO(replica.commit(DatabaseName::agents, kPassScope, {&write, 1}));
  return okStatus();
}

bool speaks(const MarketEnrolment& granted, const Roster& roster) {
  const RosterDevice* device = roster.member(granted.device);
  return device != nullptr && device->keys.back() == granted.key;
}

// Those that the root has granted for, and that the roster has no more, or with another key.
Status listRevoked(replication::LocalReplica& replica, const std::filesystem::path& dir,
                   const std::vector<MarketEnrolment>& granted, const Roster& roster, const SigningKey& root,
                   market::Moment now) {
  std::vector<MarketEnrolment> left, gone;
  for (const MarketEnrolment& each : granted) (speaks(each, roster) ? left : gone).push_back(each);
  if (gone.empty()) return okStatus();
  for (MarketEnrolment& each : gone)  // a device with another key signs with what it has signed with before
    if (roster.member(each.device) != nullptr) each.contract = each.evidence = each.card = {};
  const auto before = newestPass(replica, kRevokedList, root.publicKey());
  const auto list = withRevoked(market::valueOf(before.content), gone, root, now);
  if (list) WITAN_DO(publishWord(replica, kRevokedList, before.version + 1, *list, root));
  return keepGranted(dir, left);
}

Status makeDuePasses(replication::LocalReplica& replica, const std::filesystem::path& dir, const Roster& roster,
                     market::Moment now) {
  if (!hasKey(dir, KeyName::admin)) return okStatus();
  WITAN_TRY(granted, grantedIn(dir));
  if (granted.empty() || replica.database(DatabaseName::agents).find(kPassScope) == nullptr) return okStatus();
  WITAN_TRY(root, readKey(dir, KeyName::admin));
  for (const MarketEnrolment& each : granted) {
    if (!speaks(each, roster)) continue;
    const auto before = newestPass(replica, each.device, root.publicKey());
    if (!isDue(market::valueOf(before.content), now)) continue;
    WITAN_DO(publishWord(replica, each.device, before.version + 1, licensedPass(each, root, now), root));
  }
  return listRevoked(replica, dir, granted, roster, root, now);
}

}  // namespace

void renewPasses(replication::LocalReplica& replica, const std::filesystem::path& dir, const Roster& roster, Time now,
                 Log& log) {
  if (const Status made = makeDuePasses(replica, dir, roster, market::momentOf(now)); !made.ok())
    log.warn("market", "no pass was made anew: " + made.error().message);
}

Status takeRenewedPass(replication::LocalReplica& replica, const std::filesystem::path& dir, const MarketOrigin& origin,
                       market::Moment now) {
  if (hasKey(dir, KeyName::admin)) return okStatus();
  const auto newest = newestPass(replica, origin.device, origin.root);
  return newest.version == 0 ? okStatus() : takePass(dir, origin, market::valueOf(newest.content), now);
}

std::string revokedIn(replication::LocalReplica& replica, const PublicKey& root) {
  return newestPass(replica, kRevokedList, root).content;
}

}  // namespace witan::node
