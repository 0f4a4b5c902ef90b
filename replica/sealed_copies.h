// SealedCopies: what devices with the role `copy` keep of the replicated spaces, made and taken in by devices that have
// the scope's key (docs/SECURITY.md).
//
// A copy is what a session would send of a space to a peer of the vector `from`, up to the sender's vector `to`,
// encrypted and cut into records of the scope's sealed one (replication/sealed_scope.h). Sessions carry these as they
// carry all rows, with the writer's seal, so a device keeps, checks and passes on what it cannot read. Who has the key
// takes a copy in once its own vector covers `from`: a session whose other end has left.
//
//   {writer}:{number}:{part}   a part of the rows of segments, in order     {writer}:{number}:end   the header
//
// A device seals what it wrote itself at once, and what it has of others once nobody else has for kOthersMs. A new copy
// takes the place of those before it that are not much larger, so that there are few (a logarithm of the size).
//
// A part of Replica: its round() comes before the round's frames are made. Not thread-safe. The state outlives it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "replica/core/replica_state.h"
#include "replication/space_sync.h"

namespace witan::node {

// The keys of scopes. Main thread only.
class CopyKeys {
 public:
  virtual ~CopyKeys() = default;
  // The name of the key that seals now. Empty: this device has none of the scope.
  virtual std::string newest(std::string_view scope) = 0;
  // Null: it is not for this device.
  virtual std::shared_ptr<const Secret> find(std::string_view scope, std::string_view name) = 0;
};

inline constexpr std::int64_t kSealSpacingMs = 1'000;  // between two copies of a space
inline constexpr std::int64_t kOthersMs = 60'000;
inline constexpr std::size_t kCopyPartBytes = 512 * 1024;
inline constexpr std::size_t kCopyRoundBytes = 4 * 1024 * 1024;  // made, and taken in, in one round
inline constexpr std::uint64_t kMaxCopyParts = 1 << 20;

class SealedCopies {
 public:
  explicit SealedCopies(ReplicaState& state) : state_(state) {}

  // Takes in what copies bring, and seals what they lack. The caller flushes before anything of it leaves.
  // O(spaces) where nothing changed. Errors: the store's.
  Status round(Now now);
  // When round() has something to do, if nothing else happens.
  std::int64_t nextMs() const { return nextMs_; }
  // Other keys, or other devices that keep copies.
  void rosterChanged();
  bool quiet() const;

 private:
  // As its header says.
  struct Copy {
    std::uint64_t parts = 0, bytes = 0;
    replication::VectorClock from, to, forgotten;
  };
  struct Taking {
    std::string name;
    std::string author;
    std::uint64_t part = 0;
    std::string rows;  // of a segment that has not come whole
    std::unique_ptr<replication::SpaceSync> sync;
  };
  struct Making {
    std::string name, key;
    std::shared_ptr<const Secret> secret;
    Copy copy;
    std::string rows;               // of a part that is not full
    std::set<std::string> remains;  // the copies on which it builds
    std::unique_ptr<replication::SpaceSync> sync;
  };
  // One space with its copies.
  struct Kept {
    replication::DatabaseName database{};
    std::string scope, id;
    replication::Space* space = nullptr;
    replication::Space* sealed = nullptr;
    std::map<std::string, std::optional<Copy>, std::less<>> copies;  // by name; none: not whole, or not to be opened
    std::optional<std::uint64_t> read;                               // changes() of the sealed space
    std::set<std::string, std::less<>> bad;                          // that say what cannot be
    std::set<std::string, std::less<>> waiting;                      // for the roster
    std::optional<Taking> taking;
    std::optional<Making> making;
    std::int64_t nextMs = 0;                // the next copy, at the earliest
    std::optional<std::int64_t> lackingMs;  // since when others' commits are in no copy
  };
  // Copies that a device without anything takes in one after the other, with what it has before each.
  struct Chain {
    std::vector<std::pair<std::string, replication::VectorClock>> links;
    replication::VectorClock covered;
  };

  std::uint64_t changesNow() const;
  bool copied(std::string_view scope) const;
  Status followStatements();
  bool leaves(std::string_view copy) const;
  Result<Kept*> keptOf(replication::DatabaseName database, const std::string& scope);
  Status roundOf(Kept& kept, Now now);
  Status readCopies(Kept& kept);
  Result<std::optional<Copy>> readHeader(Kept& kept, const std::string& name);
  Result<std::optional<Secret>> open(const Kept& kept, const std::string& record);

  void chooseNext(Kept& kept);
  bool mayTake(const Kept& kept, const Copy& copy, const replication::VectorClock& here) const;
  Status take(Kept& kept, std::size_t& budget);
  Status takeSegment(Kept& kept, std::string_view rows);
  void refuse(Kept& kept, const std::string& kind, const std::string& what, bool lie);

  Chain chainOf(const Kept& kept) const;
  void chooseToMake(Kept& kept, Now now);
  bool goesFirst() const;
  Status begin(Kept& kept, const Chain& chain);
  Status make(Kept& kept, Now now, std::size_t& budget);
  Status put(Kept& kept, const std::string& part, std::string_view plain);
  Status finish(Kept& kept);
  Status erase(Kept& kept, const std::set<std::string>& names);

  ReplicaState& state_;
  std::map<std::string, Kept, std::less<>> kept_;  // by id of the space
  std::optional<std::uint64_t> seen_;              // changesNow() after the last round
  std::optional<std::uint64_t> statements_;        // changes() of their space
  replication::Membership members_;
  std::int64_t nextMs_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace witan::node
