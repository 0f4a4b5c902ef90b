// Signed heads of the logs of a cluster (docs/ledger-format.md, section 8): what they are called, what a device
// remembers of those that it signed, and the seam for keys and that memory.
//
// The log of a head is a partition in one epoch, since that only grows: an epoch that was seized begins another one.
//
//   origin    witan/{cluster}/{partition}/{epoch number}/{epoch owner}
//   key name  witan/{cluster}/{device}
//
// Values and pure functions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "kernel/epoch.h"
#include "kernel/record/checkpoint.h"

namespace witan::node {

// Whether the roster lets a device begin partitions and take them over. formerly: it did before the device was revoked.
enum class Takeover : std::uint8_t { no, formerly, yes };

// What was signed last, outside of the stores (HeadKeys::remembered), on a device's disk.
inline constexpr const char* kSignedHeadsFile = "heads.signed";
inline constexpr const char* kSignedHeadsRemedy =
    "restore it from a backup of this device, or revoke the device and join anew: without it the device does not know "
    "which heads of ledgers it signed, and could contradict them";

// The keys of the cluster's devices. Implementations outlive the replica; used on its strand.
class HeadKeys {
 public:
  virtual ~HeadKeys() = default;
  virtual const SigningKey& key() const = 0;
  // All keys that a device has had. None: it never was a member.
  virtual std::vector<PublicKey> keysOf(std::string_view device) const = 0;
  virtual Takeover mayTakeOver(std::string_view device) const = 0;
  // The device that signs by this key now; empty: none that is known.
  virtual std::string deviceOf(const PublicKey&) const { return {}; }
  // Whether the device has sealed all rows that it ever wrote (replication/row_seals.h).
  virtual bool sealsRows(std::string_view) const { return false; }
  // All keys that a person has had (node/cluster/roster.h). None: the roster names no such person.
  virtual std::vector<PublicKey> keysOfPerson(std::string_view) const { return {}; }
  // Whether the person, by that key, may answer as a counselor of the domain now.
  virtual bool mayAnswer(std::string_view, const PublicKey&, std::string_view) const { return false; }
  // Whether a counselor of this name may answer without a person's signature.
  virtual bool mayAnswerUnsigned(std::string_view, std::string_view) const { return true; }
  // What was remembered last, outside of the stores; empty: nothing. Errors: unreadable.
  virtual Result<std::string> remembered() const = 0;
  // Durably, before a signature leaves.
  virtual Status remember(std::string_view text) = 0;
};

struct LogName {
  std::string partition;
  kernel::Epoch epoch;
  friend bool operator==(const LogName&, const LogName&) = default;
};

std::string keyNameOf(std::string_view cluster, std::string_view device);
// Empty: it is no device's of this cluster.
std::string deviceOfKeyName(std::string_view cluster, std::string_view keyName);
std::string originOf(std::string_view cluster, const LogName& log);
// None: it is no log's of this cluster.
std::optional<LogName> logOfOrigin(std::string_view cluster, std::string_view origin);

// Whether a checkpoint of this origin by this key is a signed head: the key has the origin's name (a ledger of `witan
// run`), or is of the device that owns the epoch. Of a device's other notes none is (kernel::kCopyStatement).
bool signsLog(const kernel::NoteVerifier& key, std::string_view origin);

struct LogHead {
  LogName log;
  kernel::Checkpoint checkpoint;
  std::string text;                 // that is signed
  std::string note;                 // with the signatures
  std::set<std::string> cosigners;  // devices, without the owner
  bool newerThan(const LogHead& other) const {
    return std::pair(log.epoch, checkpoint.size) > std::pair(other.log.epoch, other.checkpoint.size);
  }
};

// Opens a note that a device handed over. None: the owner's signature is of no key that is known. Errors: no signed
// head of this cluster; a signature of a known key that does not hold.
Result<std::optional<LogHead>> openHead(std::string_view cluster, std::string_view note, const HeadKeys& keys);

// HeadMemory: of each partition the last head that this device signed or cosigned. A key that keeps to it signs no two
// trees that contradict each other, whatever happens to the stores.
class HeadMemory {
 public:
  struct Signed {
    kernel::Epoch epoch;
    std::uint64_t size = 0;
    Hash root{};
  };
  static Result<HeadMemory> parse(std::string_view cluster, std::string_view text);
  std::string text(std::string_view cluster) const;
  // Null: none.
  const Signed* find(std::string_view partition) const;
  // Whether a head may be signed, given that its log is the one that the remembered head is of, if both are of one
  // epoch.
  bool permits(const std::string& partition, const Signed& head) const;
  void note(const std::string& partition, const Signed& head) { signed_[partition] = head; }
  const std::map<std::string, Signed, std::less<>>& all() const { return signed_; }

 private:
  std::map<std::string, Signed, std::less<>> signed_;
};

}  // namespace witan::node
