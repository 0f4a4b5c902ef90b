// What proves, to devices that believe no peer, which device wrote a version (docs/SECURITY.md).
//
//   leaf   The hash of all that a version says: its space, writer, counter, kind, key and body, and a digest of what
//   its
//          author had seen, so that the leaf stays the same when stability shortens that.
//   seal   The signature of the writer's device over a tree of such leaves, and those leaves that somebody needs. The
//          device seals what it wrote when that first leaves it; whoever forwards a version passes its leaf on.
//   first  From which counter on a writer's versions are sealed: each leaf says so. A version below it may be from
//          before there were seals; of a device that always had them there is none.
//   count  A leaf that says how many commits a writer has made, in the newest seal of each. No counter of a writer that
//          seals is believed beyond it: a vector that covers commits to come would bar them everywhere.
//
// RowKeys is the seam for keys and trees. RowSeals are those of one space, and a part of it: rows "p" and "f"
// (replication/space_rows.h). Not thread-safe. What the constructor takes outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "replication/record_table.h"
#include "store/store.h"

namespace witan::replication {

inline constexpr std::size_t kMaxSealLeaves = 1024;
inline constexpr std::size_t kMaxSealBytes = 100 + kMaxSealLeaves / 8 + kMaxSealLeaves * sizeof(Hash);

struct SealLeaf {
  std::uint32_t index = 0;
  Hash hash{};
};

class RowKeys {
 public:
  virtual ~RowKeys() = default;
  // A seal of 1 to kMaxSealLeaves leaves by this device's key.
  virtual std::string seal(std::span<const Hash> leaves) = 0;
  // The same seal with some of its leaves, ascending. Requires: `seal` was made or opened here.
  virtual std::string keep(std::string_view seal, std::span<const std::uint32_t> leaves) = 0;
  // The leaves that it has, ascending. Errors: unavailable, a key signed it that is not known to be the device's;
  // unauthorised, it proves nothing.
  virtual Result<std::vector<SealLeaf>> open(std::string_view seal, std::string_view device) = 0;
  // Whether the device has sealed all that it ever wrote.
  virtual bool sealsAll(std::string_view device) const = 0;
  // `seal` is no seal of the device whose version it came for. `text`: what that version's leaf is the hash of.
  virtual void forged(std::string_view, std::string_view) {}
};

// A seal as a space keeps it.
struct RowSeal {
  std::uint64_t id = 0;
  WriterIndex writer = 0;
  Seq first = 0;
  std::string bytes;
  std::size_t leaves = 0;                                // in `bytes`
  std::vector<std::pair<std::uint32_t, Held*>> members;  // by leaf; null: the version is gone
  std::size_t live = 0;
  // That its writer has made `seq` commits, if no other seal says more.
  struct Count {
    std::uint32_t leaf = 0;
    Seq seq = 0;
  };
  std::optional<Count> count;
  bool dirty = false;
  std::size_t used() const { return live + (count ? 1 : 0); }
};

// A seal that came with versions, for as long as these are read. Borrows.
struct ArrivingSeal {
  std::string_view bytes;
  Seq first = 0;
  bool opened = false;
  std::optional<WriterIndex> writer;  // whose versions it proves
  std::optional<ErrorCode> refused;   // why it proves nothing
  std::vector<SealLeaf> leaves;
  RowSeal* kept = nullptr;
};

// How a version that came is proven. Borrows.
struct RowProof {
  ArrivingSeal* seal = nullptr;
  std::uint32_t leaf = 0;
  const Hash* whole = nullptr;  // what its author had seen, where that was shortened
};

enum class ProofVerdict { proven, keyUnknown, unproven };

// All that a leaf says. Borrows.
struct LeafText {
  WriterIndex writer = 0;
  Seq seq = 0, first = 0;
  Kind kind{};
  std::string_view key;
  bool tombstone = false;
  Hash seen{};
  std::string_view body;
};

// The start of what a leaf is the hash of, as a stranger reads it. Errors: it is none.
struct LeafNames {
  std::string_view cluster, space, writer, key;
};
Result<LeafNames> readLeafNames(std::string_view text);

class RowSeals {
 public:
  RowSeals(std::string prefix, store::WriteBatch& pending, const WriterTable& writers)
      : prefix_(std::move(prefix)), pending_(pending), writers_(writers) {}

  // Before anything is written. `space`: its name, which leaves say. Without keys nothing is sealed or asked for.
  void use(std::shared_ptr<RowKeys> keys, std::string_view cluster, std::string_view space);
  bool on() const { return keys_ != nullptr; }
  // After the versions. Errors: corrupt.
  Status load(const store::Reader& store, RecordTable& table);

  // 0: none is known.
  Seq first(WriterIndex writer) const { return writer < firsts_.size() ? firsts_[writer] : 0; }
  // From now on the writer's versions above `written` are sealed, if that was not said yet.
  void begin(WriterIndex writer, Seq written);
  // Whether a version without seal does not count.
  bool mustSeal(WriterIndex writer, Seq seq) const;

  Hash leafOf(const LeafText& text) const;
  Hash countLeaf(WriterIndex writer, Seq first, Seq count) const;
  // What it is the hash of, without the body.
  std::string headOf(const LeafText& text) const;
  Hash seenBy(const Context& context) const;

  // Of versions of this device, with their leaves, and of the number of its commits. 0: it is not said.
  void add(WriterIndex writer, std::span<Held* const> versions, std::vector<Hash> leaves, Seq count);
  // How many commits the writer has made at least, by its device's word. 0: none is known.
  Seq counted(WriterIndex writer) const;
  // The seal that says so. Null: there is none.
  const RowSeal* counting(WriterIndex writer) const;
  // Whether a leaf of the seal says that the writer has made `seq` commits; keeps it if so.
  ProofVerdict count(ArrivingSeal& seal, std::uint32_t leaf, WriterIndex writer, Seq seq);
  // Whether `proof` proves what came.
  ProofVerdict judge(const RowProof& proof, LeafText& text, const Context& context);
  // The version that it proves is held now. Whether its writer had not been known to seal its versions.
  bool take(const RowProof& proof, WriterIndex writer, Held& held);
  // The version goes.
  void release(Held& held);
  // The version's context will be shortened.
  void shorten(Held& held);
  // With the space's batch.
  void write();
  // As it travels for some of its leaves, in any order.
  std::string forLeaves(const RowSeal& seal, std::vector<std::uint32_t> leaves) const;
  // Each seal proves its versions. `leafOf`: of one of them. For tests and the simulator.
  Status check(const std::function<Result<Hash>(const Held&, Seq first)>& leafOf) const;

 private:
  RowSeal& make(WriterIndex writer, Seq first, std::string bytes, std::size_t leaves);
  RowSeal& kept(ArrivingSeal& seal, WriterIndex writer);
  void open(ArrivingSeal& seal, WriterIndex writer) const;
  void setCount(RowSeal& seal, std::uint32_t leaf, Seq count);
  void join(RowSeal& seal, std::uint32_t leaf, Held& held);
  void touch(RowSeal& seal);
  void setFirst(WriterIndex writer, Seq first);
  void put(RowSeal& seal);
  std::string rowKey(const RowSeal& seal) const;
  Status loadSeal(std::string_view row, std::string_view value, RecordTable& table);

  const std::string prefix_;
  store::WriteBatch& pending_;
  const WriterTable& writers_;
  std::shared_ptr<RowKeys> keys_;
  std::string start_, countStart_;  // of the leaves' texts
  std::vector<Seq> firsts_;
  std::vector<RowSeal*> counting_;
  std::map<std::uint64_t, std::unique_ptr<RowSeal>> seals_;
  std::vector<RowSeal*> dirty_;
  std::uint64_t nextId_ = 1;
};

}  // namespace witan::replication
