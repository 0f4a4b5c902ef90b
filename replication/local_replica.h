// LocalReplica: the replicated data of one device: its journal and agent databases, under which writer it commits, what
// it knows about other devices' progress, and what went wrong.
//
// One per data directory. Sans-I/O: the two stores are seams; time and fresh incarnation tags come in as arguments. Not
// thread-safe. The stores outlive it; sync sessions (replication/sync_session.h) live shorter.
//
// A frame, an answer or an event that rests on a change waits until flush() has returned ok.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replication/database.h"
#include "replication/incarnation.h"
#include "replication/membership.h"
#include "replication/stability.h"

namespace witan::replication {

// Where the statements about membership live: a scope of the agent database that every device may have.
inline constexpr std::string_view kClusterScope = "cluster";
// That are kept: the newest, and of one kind and device no more than that, so that no member erases what others did.
inline constexpr std::size_t kMaxIncidents = 1000, kMaxIncidentsOfOne = 40;

// Whether a device may have a space.
using MayHave = std::function<bool(std::string_view device, DatabaseName database, std::string_view scope)>;

struct ReplicaOptions {
  std::string cluster;     // id; peers of another are refused
  std::string clusterKey;  // secret of the cluster, for fingerprints
  std::string device;      // as validateDeviceId wants it
  // A fresh random tag, for a first or a new incarnation.
  std::function<std::uint32_t()> freshTag;
  // The content of the sidecar file: see decideIncarnation. None: there is no such file.
  std::optional<Result<HighWater>> highWater;
  // Without a sidecar (tests, tools over a store in memory): go on under the writer that the store names.
  bool trustStore = false;
  // Null: versions are believed without proof (replication/row_seals.h).
  std::shared_ptr<RowKeys> rowKeys = {};
};

// Something an operator must know. Kept in the agent database.
struct Incident {
  std::string kind;  // equivocation, forgedRow, badCopy, rolledBack, olderCopy, quarantine, digestAlarm, newIncarnation
  std::string peer;  // device, if one is concerned
  std::string what;
  WITAN_MEMBERS(Incident, kind, peer, what)
};

class LocalReplica {
 public:
  // Opens both databases and decides under which writer to go on. Errors: as Database::open.
  static Result<std::unique_ptr<LocalReplica>> open(store::Store& journal, store::Store& agents,
                                                    const RecordSchemas& schemas, ReplicaOptions options);

  const std::string& device() const { return options_.device; }
  const std::string& cluster() const { return options_.cluster; }
  const std::string& writer() const { return writer_; }
  const FingerprintKey& fingerprintKey() const { return *key_; }
  bool sealsRows() const { return options_.rowKeys != nullptr; }
  // Equal for equal keys of one cluster; tells nothing about the key.
  std::uint64_t keyCheck() const { return key_->hash64("witan key check|" + options_.cluster); }
  Database& database(DatabaseName name) { return name == DatabaseName::journal ? *journal_ : *agents_; }
  // Why the last open() took a new incarnation; cause none if it did not.
  const IncarnationDecision& incarnation() const { return decision_; }
  // The content that the sidecar must hold before the next frame leaves. It changes rarely.
  HighWater highWater() const;
  // The same for a clean end.
  HighWater closedHighWater() const;

  // One atomic commit in one space. The dot may be told to anyone after flush().
  Result<Dot> commit(DatabaseName database, std::string_view scope, std::span<const Write> writes);
  // Goes on as a new writer. Requires nothing; what was committed stays.
  Status reincarnate(std::string_view why);
  // This device keeps encrypted copies: of its own it writes nothing but statements about membership.
  void keepCopiesOnly() { copiesOnly_ = true; }
  // Both databases. Journal first: nothing in it refers to the agents' database.
  Status flush();
  // Grows with every flush that had something to do: the mark that durable() must reach.
  std::uint64_t mark() const { return journal_->mark() + agents_->mark(); }
  std::uint64_t durable() const { return journal_->durable() + agents_->durable(); }

  // --- other devices
  // The durable commits of each device, by its own word or at second hand.
  void noteAck(std::string_view space, std::string_view device, const VectorClock& committed, std::int64_t atMs);
  const AckTable& acks() const { return acks_; }
  // The same of this device itself: everything that it has of the space.
  void noteOwnAck(std::string_view id, const Space& space);
  // Equal for equal acknowledgements in a space.
  std::uint64_t acksHash(std::string_view id, const Space& space);
  // Shortens what every active device has. Also marks the writers of completed retirements. O(unstripped versions) for
  // each space in which something changed since the last time.
  Status stabilise();
  // From the statements in the cluster's space. Kept until one comes or goes.
  Result<Membership> membership();
  // From now on such proposals count alone.
  void retireOnly(MayRetire mayRetire) { mayRetire_ = std::move(mayRetire), members_.reset(); }
  // From now on a space waits for those devices alone that may have it. Who is given it again compares its copy before
  // it counts, as after all that was forgotten without it (kForgotten). Default: each device may have every space.
  void waitFor(MayHave mayHave) { mayHave_ = std::move(mayHave), members_.reset(); }
  // Both may answer otherwise than before.
  void rosterChanged() { members_.reset(); }
  // The present devices for whose acknowledgements a space waits. None: nothing is tidied there, as there are no
  // members or this device may not have the space.
  Result<std::vector<std::string>> waitedFor(std::string_view spaceId);
  Result<std::vector<Statement>> statements();
  Status addStatement(const Statement& statement);
  // Acknowledges the retirements that wait for this device (replication/membership.h). Returns how many. From then on
  // nothing may be accepted from those devices: end a session with one first. The caller flushes. O(statements).
  Result<std::size_t> acknowledgeRetirements();
  // Once for each time that this device itself was retired: while it was, the others tidied away what it still holds,
  // so its copy counts as restored, and it goes on under a new writer. Sessions call it when statements have come.
  Status noticeOwnRetirement(const Membership& members);

  // Set when this store went back in time, until a peer's copy has been adopted (replication/anti_entropy.h).
  bool restored(std::string_view space) const;
  void setRestored(std::string_view space, bool restored);

  // --- what went wrong
  // Once, however often it is noted.
  void note(Incident incident);
  Result<std::vector<Incident>> incidents() const;
  void quarantine(std::string_view device, std::string_view why);
  void pardon(std::string_view device);
  // The reason, if it is.
  std::optional<std::string> quarantined(std::string_view device) const;
  // All of them: device, reason.
  Result<std::map<std::string, std::string>> quarantines() const;
  // Judges a peer's claim about this device's own writer in a space; may take a new incarnation, or quarantine the
  // peer.
  Status judgeClaim(Space& space, std::string_view spaceId, std::string_view peer, const VectorClock& claimed);
  // A peer has other contents under a dot of this device's present writer: goes on as a new one. Errors: the peer says
  // so again and again, and is quarantined.
  Status dotWasTaken(std::string_view peer, std::string_view why);
  // Judges a peer's memory of this device's acknowledgements for a space. If that is more than it has, its store is an
  // older copy, also where it has written nothing since: what it acknowledged, the others may have outlived and
  // forgotten, so the copy counts as restored. Concluded once from each acknowledgement. Errors: the peer lies, and is
  // quarantined.
  Status judgeAck(Space& space, std::string_view spaceId, std::string_view peer, const VectorClock& acked);

  // "{database}/{scope}": how spaces are named in statements, acks and messages to people.
  static std::string spaceId(DatabaseName database, std::string_view scope);
  // All of them, both databases, in order.
  std::vector<std::string> spaceIds() const;
  Space* findSpace(std::string_view spaceId);

 private:
  // What the statements said when they were read last.
  struct KnownMembers {
    Membership members;
    std::vector<std::string> present;
    std::uint64_t changes = 0;  // of the cluster's space
  };
  // What is known of a space's acknowledgements, as long as nothing changes.
  struct Acked {
    struct Tidied {
      std::uint64_t changes = 0, news = 0, readings = 0;
      std::size_t writers = 0;
      friend bool operator==(const Tidied&, const Tidied&) = default;
    };
    std::uint64_t news = 0;             // ackNews_ at the latest
    std::optional<std::uint64_t> hash;  // of them
    std::optional<std::uint64_t> own;   // changes of the space when its own was noted
    std::optional<Tidied> tidied;       // after which stabilise() has nothing to do
  };

  LocalReplica(const RecordSchemas& schemas, ReplicaOptions options)
      : schemas_(schemas), options_(std::move(options)) {}
  Status start();
  Status loadAcks();
  Result<const KnownMembers*> members();
  std::vector<std::string> waitedFor(DatabaseName database, std::string_view scope, const KnownMembers& known) const;
  void stabilise(DatabaseName database, const std::string& scope, Space& space, const KnownMembers& known);
  // Only members' acknowledgements count; a stranger's never hold anything up.
  void forgetAcksOfOthers(std::span<const std::string> present);
  std::map<std::string, std::uint64_t, std::less<>> ownCounters() const;

  const RecordSchemas& schemas_;
  ReplicaOptions options_;
  MayRetire mayRetire_;
  MayHave mayHave_;
  std::unique_ptr<FingerprintKey> key_;
  std::unique_ptr<Database> journal_, agents_;
  std::string writer_;
  bool bornHere_ = false, copiesOnly_ = false;
  IncarnationDecision decision_;
  AckTable acks_;
  std::map<const Space*, Acked> acked_;
  std::uint64_t ackNews_ = 0;                                           // acknowledgements that said something new
  std::optional<std::pair<std::uint64_t, std::uint64_t>> onlyMembers_;  // ackNews_ and readings_ of that look
  std::optional<KnownMembers> members_;
  std::uint64_t readings_ = 0;  // of the members
  std::set<std::string, std::less<>> restored_;
  std::map<std::string, unsigned, std::less<>> rollbacks_;  // new writers that a peer has caused
  std::map<std::string, std::map<std::string, unsigned, std::less<>>, std::less<>> recalls_;  // the same, and space
  std::uint64_t nextIncident_ = 0;
  std::map<std::uint64_t, std::string> incidentsOf_;  // number -> kind and device
  std::set<std::string, std::less<>> noted_;          // incidents, as they are kept
};

}  // namespace witan::replication
