#include "node/market/market_passes.h"

#include "node/cluster/device_key.h"
#include "replication/records/record_write.h"
#include "replication/records/signed_document.h"

namespace witan::node {

using replication::DatabaseName;
using replication::DocumentKind;
using replication::Kind;

namespace {

constexpr const char* kPassScope = "main";

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

Status makeDuePasses(replication::LocalReplica& replica, const std::filesystem::path& dir, const Roster& roster,
                     market::Moment now) {
  if (!hasKey(dir, KeyName::admin)) return okStatus();
  WITAN_TRY(granted, grantedIn(dir));
  if (granted.empty() || replica.database(DatabaseName::agents).find(kPassScope) == nullptr) return okStatus();
  WITAN_TRY(root, readKey(dir, KeyName::admin));
  for (const MarketEnrolment& each : granted) {
    const RosterDevice* device = roster.member(each.device);
    const auto before = newestPass(replica, each.device, root.publicKey());
    if (device == nullptr || device->keys.back() != each.key || !isDue(market::valueOf(before.content), now)) continue;
    replication::SignedDocumentBody next{.kind = DocumentKind::policy,
                                         .name = concat(each.device, kPassDocuments),
                                         .version = before.version + 1,
                                         .content = licensedPass(each, root, now)};
    WITAN_TRY(document, replication::sign(std::move(next), root));
    WITAN_TRY(write, replication::recordWrite(document.name, document));
    WITAN_DO(replica.commit(DatabaseName::agents, kPassScope, {&write, 1}));
  }
  return okStatus();
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

}  // namespace witan::node
