#include "sim/check/liar_rules.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/record/fork_proof.h"
#include "kernel/record/statement.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_proofs.h"
#include "replication/writer.h"

namespace witan::sim {

namespace {

// Incidents that say of a device that it did what none does. Two logs of one epoch (fork) name who brought the second.
constexpr std::string_view kAccusing[] = {"unlawful",   "unsigned",      "forgedName",  "headDiffers",
                                          "forkProven", "falsePosition", "falseAnswer", "badEntries",
                                          "badBatch",   "forgedRow",     "quarantine"};

}  // namespace

bool isAccusing(std::string_view incident) { return std::ranges::find(kAccusing, incident) != std::end(kAccusing); }

std::string falselyAccused(std::span<const Accusation> accusations, std::string_view liar,
                           const std::set<std::string>& mayErr) {
  for (const Accusation& one : accusations)
    if (isAccusing(one.kind) && one.named != liar && !mayErr.contains(one.named))
      return concat(one.by, " reports ", one.kind, " of ", one.named, ", which does not lie: ", one.what);
  return {};
}

std::string wrongEvidence(std::string_view file, std::string_view cluster, std::string_view liar, const PublicKey& key,
                          const std::set<std::string>& mayErr, const node::ModuleOf& rules) {
  const auto proven = node::verifyEvidence(file, rules);
  if (!proven.ok()) return "a file of evidence proves nothing: " + proven.error().message;
  const std::string device = node::deviceOfKeyName(cluster, proven->signer.name);
  if (mayErr.contains(device)) return {};
  if (device != liar) return concat("a file of evidence names ", device, ", which does not lie: ", proven->what);
  if (proven->signer.publicKey != key) return "a file of evidence names a key that is not that of " + device;
  // Heads prove a lie of who owned the log when they were signed; others sign what they believe.
  const auto fork = kernel::verifyForkProof(file);
  const auto log = fork.ok() ? node::logOfOrigin(cluster, fork->origin) : std::nullopt;
  if (fork.ok() && (!log || replication::deviceOf(log->epoch.owner) != device))
    return concat("a file of evidence names ", device, ", which did not own the log: ", proven->what);
  return {};
}

std::string unprovenEntry(std::string_view cluster, std::string_view domain, const PartitionLog& log,
                          const std::function<std::vector<PublicKey>(std::string_view device)>& keysOf) {
  kernel::SignatureMemo memo;
  auto epoch = log.epochs.begin();
  bool isSigned = false;
  for (const LedgerLine& line : log.lines) {
    for (; epoch != log.epochs.end() && epoch->entries < line.entry.seq; ++epoch)
      isSigned = epoch->format >= kernel::kSignedFormat;
    if (!isSigned) continue;
    WordWriter words;
    const auto view = kernel::readEntryView(words.message(line.entry));
    if (!view.ok()) return nameOf(line.entry) + ": " + view.error().message;
    if (!kernel::hasProposer(*view)) continue;
    if (view->proof.empty()) return nameOf(line.entry) + " bears no signature of " + line.entry.device;
    const auto keys = keysOf(line.entry.device);
    if (!kernel::holdsProof(cluster, domain, *view, memo) ||
        std::ranges::find(keys, kernel::readProof(view->proof)->key) == keys.end())
      return nameOf(line.entry) + " bears no good signature of " + line.entry.device;
  }
  return {};
}

std::string cutInVain(std::string_view by, std::string_view partition, const kernel::Epoch& had,
                      const std::optional<kernel::Epoch>& claimed) {
  if (claimed && had < *claimed) return {};
  return concat(by, " gives up batches of ", partition, " in ", nameOf(had), ", and knows of no later epoch");
}

std::string wrongSetback(const Accusation& notice, bool diskWentBack) {
  if (notice.kind != "wentBack" || diskWentBack) return {};
  return concat(notice.by, " believes that its log of ", notice.named, " went back, as ", notice.what,
                " says; its disk did not");
}

std::string heldLie(std::string_view by, std::span<const std::string> keys) {
  for (const std::string& key : keys)
    if (key.starts_with(kRowLie)) return concat(by, " holds ", key, ", which its author never wrote");
  return {};
}

std::string believedLie(std::span<const Told> lies, std::span<const Told> answers) {
  for (const Told& lie : lies)
    for (const Told& answer : answers)
      if (answer.device == lie.device && answer.message == lie.message)
        return concat("device-", lie.device, " believes the answer to ", lie.operationId,
                      ", which its owner did not sign or has not decided");
  return {};
}

std::string unproven(std::span<const LieEffect> effects, std::span<const LieEffect> proven) {
  for (const LieEffect& effect : effects)
    if (std::ranges::none_of(proven, [&](const LieEffect& one) {
          return one.kind == effect.kind && one.partition == effect.partition && one.epoch == effect.epoch;
        }))
      return concat(effect.device, " took in a lie (", effect.kind, ") about ", effect.partition, " in ",
                    nameOf(effect.epoch), ", and nobody has evidence of it");
  return {};
}

std::optional<LieEffect> provenBy(std::string_view cluster, std::string_view file) {
  const auto parsed = parseJson(file, {.bytes = node::kMaxEntryEvidence, .depth = 4});
  if (!parsed.ok()) return std::nullopt;
  if (const auto fork = kernel::verifyForkProof(file); fork.ok()) {
    const auto log = node::logOfOrigin(cluster, fork->origin);
    if (!log) return std::nullopt;
    return LieEffect{"fork", {}, log->partition, log->epoch};
  }
  node::EntryEvidence evidence;
  if (!readJson(*parsed, evidence, "evidence").ok()) return std::nullopt;
  const auto bytes = fromBase64(evidence.seal);
  node::BatchSeal seal;
  if (!bytes.ok() || !readMessage(*bytes, seal, "seal").ok()) return std::nullopt;
  return LieEffect{evidence.kind, {}, evidence.partition, seal.epoch()};
}

}  // namespace witan::sim
