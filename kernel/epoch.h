// Epochs: who may decide for a partition, and since when.
//
// An epoch is a fencing token: a number and its owner, ordered by number and then by owner, so that two devices that
// seize a partition without knowing of each other never share one. The log itself says where an epoch begins, in a
// record of its own that opens a batch; everything up to the next such record was decided under it. Two logs that both
// hold the beginning of an epoch at the same place are equal up to there, since an owner never forks its own epoch
// (the log matching property; KIP-101 compares replicas by the same lists).
//
// An epoch is begun by its owner and by nobody else, so that number and owner name one epoch: a handover is a last
// epoch of the old owner, in which nothing is decided and which names a successor, and then one that the successor
// begins when its log has come so far. (If the old owner began the successor's epoch, the successor might seize the
// partition before it hears of that, under the very same name.)
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/capnp_codec.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"

namespace witan::kernel {

struct Epoch {
  std::uint64_t number = 0;  // 0: before the first
  std::string owner;  // device id, '@', the tag of its ledger store: a device that lost its disk is another owner
  friend auto operator<=>(const Epoch&, const Epoch&) = default;
  friend bool operator==(const Epoch&, const Epoch&) = default;
};

// An epoch follows the latest that its owner had heard of, by one. So an epoch this far beyond the latest one that a
// device knows of comes from no honest device, and the bound keeps a liar from using up the numbers: it would need 2^42
// messages.
inline constexpr std::uint64_t kMaxEpochStep = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxEpoch = std::uint64_t{1} << 62;

// Errors: beyond the bound.
inline Status checkEpochStep(std::uint64_t number, std::uint64_t known) {
  if (number <= kMaxEpoch && number <= known + kMaxEpochStep) return okStatus();
  return invalid("epoch " + std::to_string(number) + ", when the latest known is " + std::to_string(known));
}

// How an epoch began: with the partition, by its predecessor's own hand, without asking it, or because etcd let its
// owner succeed with the whole log.
WITAN_ENUM(EpochCause, founding, handover, seizure, succession)

// Of an epoch whose entries bear their proposers' proofs, and whose first entry names it (docs/ledger-format.md).
inline constexpr std::uint16_t kSignedFormat = 2;
// The same, and beginnings of entities bear proofs too.
inline constexpr std::uint16_t kSignedBeginnings = 3;

template <class Text>
struct BasicEpochRecord {
  std::uint64_t number = 0;
  Time time;
  EpochCause cause = EpochCause::founding;
  Text owner{};
  Text previousOwner{};
  std::uint64_t previousNumber = 0;
  std::uint64_t entries = 0;  // before it
  Hash root{};                // of the tree over them: the last known checkpoint
  Text reason{};
  Text successor{};          // handover: the owner has nothing more to say, and this one begins the next epoch
  std::uint16_t format = 0;  // kSignedFormat, kSignedBeginnings: what bears proofs
  WITAN_MEMBERS(BasicEpochRecord, number, time, cause, owner, previousOwner, previousNumber, entries, root, reason,
                successor, format)
};
using EpochRecord = BasicEpochRecord<std::string>;
using EpochView = BasicEpochRecord<std::string_view>;

inline Epoch epochOf(const EpochRecord& record) { return {record.number, record.owner}; }

}  // namespace witan::kernel
