// Lies: makes the frames of one lie and sends them. Private to sim/run/liar.cpp; a new kind is a value of Lie, a method
// here and a row in lies.cpp.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "replica/core/owner_proofs.h"
#include "replication/space.h"
#include "sim/run/liar.h"

namespace witan::sim {

class Lies {
 public:
  // `self` lies. All outlive it.
  Lies(Cluster& cluster, Seat& self, const std::deque<std::string>& heard, Random& random)
      : c_(cluster), self_(self), heard_(heard), random_(random) {}
  // Whether there was a way to tell it.
  bool tell(Lie lie);

 private:
  // A batch that a log could go on with: decided, or altered, on a copy of a device's disks.
  struct Batch {
    std::string partition;
    kernel::Epoch epoch, previous;
    std::uint64_t number = 0;
    std::uint64_t entries = 0;  // of the log with it
    Hash root{};                // likewise
    Hash before{};              // digest of the log before it
    std::uint16_t format = 0;
    std::string value;
    node::Request request;
  };

  // ---- of any member (lies.cpp)
  bool claim();
  bool position();
  bool answer();
  bool acknowledgement();
  bool batch();
  bool replay();
  bool head();
  bool request();
  bool flood();
  bool proof();
  // ---- about the replicated data (lies_of_rows.cpp)
  bool row();
  bool revocation();
  bool commits();
  // A commit that its writer has not made.
  struct Unmade {
    const replication::RowSeals& seals;
    replication::WriterIndex writer = 0;
    std::uint64_t number = 0;
    replication::Seq seq = 0;
  };
  static replication::Space* spaceOf(const Seat& at, bool statements);
  std::optional<Unmade> unmade(const Seat& author, bool statements);
  std::string ownSeal(const Unmade& of, std::vector<Hash> leaves) const;
  void sayRow(const Seat& to, bool statement, const Seat& author, const std::string& key, const std::string& body);
  void saySegment(const Seat& to, bool statement, const std::string& rows);
  // ---- of an owner (lies_of_owners.cpp)
  bool unlawfulEntry();
  bool unsignedEntry();
  bool forgedEntry();
  bool secondHead();
  bool secondBatch();
  bool falseAnswer();

  std::uint64_t draw(std::uint64_t n) { return random_.below(n); }
  Hash anyHash() { return sha256(std::to_string(random_.next())); }
  // Honest devices that it reaches. Null: none.
  Seat* victim(bool keeper = false);
  std::string anyPartition();
  std::string anyOwner();
  // The honest device that owns a partition. Null: none does now.
  Seat* ownerOf(const std::string& partition);
  node::OwnershipRecord anyClaim();
  std::optional<node::OwnershipRecord> oldClaim();
  node::LogPosition anyPosition();
  std::optional<node::Request> anyRequest(const std::string& device);
  node::PeerAdvertisement standing() const;
  template <class T>
  void say(const Seat& to, const T& message);
  void told(Lie lie, const Seat& to, const Batch* batch = nullptr, const std::string& operation = {});

  // ---- logs
  // What it decides itself. None: nothing. A partition of people, and its log is durable.
  std::optional<std::string> owned();
  // The next batch of the copy that `of` has, with one more proposal. None: nothing can be proposed.
  std::optional<Batch> next(Seat& of, const std::string& partition);
  // The same with each entry changed. None: `change` has changed none.
  static std::optional<std::string> altered(const std::string& batch,
                                            const std::function<bool(kernel::Entry&)>& change);
  node::Entries sealed(const Batch& batch, bool seal = true) const;
  void sayBatch(Lie lie, const Seat& to, const Batch& batch);
  // A head signed by this device.
  std::string headOf(const std::string& partition, const kernel::Epoch& epoch, std::uint64_t entries, const Hash& root);
  void sayHead(const Seat& to, std::string note);
  // Completes an answer with an entry and the word of this device that its log has it. Whether it could.
  bool convince(node::Answer& answer, const node::Request& request, const std::string& partition);
  // A request that somebody honest has open. With `asked`: sent to this device, which owns the partition.
  std::optional<std::pair<Seat*, node::Request>> openRequest(bool asked);
  // Whether the partition is decided by what people propose (the steps of graphs are their runtimes').
  bool ofPeople(const std::string& partition) const;

  Cluster& c_;
  Seat& self_;
  const std::deque<std::string>& heard_;
  Random& random_;
};

}  // namespace witan::sim
