// The rules of a cluster in which a device lies: whom honest devices may accuse, what evidence must hold, which claims
// and entries they may have. The checker "lies" asks; functions say "" or what is wrong. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "kernel/epoch.h"
#include "replica/core/entry_evidence.h"
#include "sim/check/operation.h"

namespace witan::sim {

// What a device reports of another: an incident.
struct Accusation {
  std::string by, kind, named, what;
};
bool isAccusing(std::string_view incident);
// `liar`: its name. `mayErr`: devices whose disk, with all that they remember of what they signed, went back: they may
// have said two things.
std::string falselyAccused(std::span<const Accusation> accusations, std::string_view liar,
                           const std::set<std::string>& mayErr);

// A file that proves something (replica/core/entry_evidence.h) holds for a stranger, against a device that lied, by its
// key.
std::string wrongEvidence(std::string_view file, std::string_view cluster, std::string_view liar, const PublicKey& key,
                          const std::set<std::string>& mayErr, const node::ModuleOf& rules = {});

// A log gives up what it has for a later epoch alone, which its device knows: `claimed` is the latest, none if none is.
std::string cutInVain(std::string_view by, std::string_view partition, const kernel::Epoch& had,
                      const std::optional<kernel::Epoch>& claimed);
// A device believes that its log went back if its disk did, and no peer that says so.
std::string wrongSetback(const Accusation& notice, bool diskWentBack);

// Rows that a liar makes up in another's name have keys that begin so. Nobody honest holds one.
inline constexpr std::string_view kRowLie = "lie-row-";
std::string heldLie(std::string_view by, std::span<const std::string> keys);

// What a device was told in answer to its requests.
struct Told {
  std::uint32_t device = 0;
  std::string operationId, message;
};
// Who keeps ledgers believes no answer that does not hold its entry with the word of the owner that was asked.
std::string believedLie(std::span<const Told> lies, std::span<const Told> answers);

// Of the log's entries in epochs with proofs each bears one of a key of its device.
std::string unprovenEntry(std::string_view cluster, std::string_view domain, const PartitionLog& log,
                          const std::function<std::vector<PublicKey>(std::string_view device)>& keysOf);

// What came of lies: a batch of two that was taken, and logs that were refused for a forged entry.
struct LieEffect {
  std::string kind;  // fork, or the incident
  std::string device;
  std::string partition;
  kernel::Epoch epoch;
};
// Each has its file: "fork", "unsigned" or "forgedName", of the partition and epoch.
std::string unproven(std::span<const LieEffect> effects, std::span<const LieEffect> proven);
// What a file proves. None: no file of these kinds.
std::optional<LieEffect> provenBy(std::string_view cluster, std::string_view file);

}  // namespace witan::sim
