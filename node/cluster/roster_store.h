// RosterStore: the newest roster that this device knows, on its disk: DIR/roster, the signed document as it travels,
// DIR/roster.date, when the admin's device last said that there was no later one than some version,
// DIR/roster.parted, another one of the same key that does not follow it, nor it that one, until both are united, and
// DIR/roster.revoked, on a device that was told of its revocation and of nothing else.
//
// One per data directory and process. What publish() returns is durable. What adopt() takes in counts at once, also
// where the disk is full: a revocation that was heard is not forgotten because it cannot be written. kept() says
// whether it is durable, keep() tries again.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node {

// The admin's word that at a time there was no later roster than this version.
struct RosterDate {
  Time at;  // 0: nobody has said so
  std::uint64_t version = 0;
  std::string signature;  // hex
  WITAN_MEMBERS(RosterDate, at, version, signature)
};

// What the admin's key signs of it.
std::string dateText(std::string_view cluster, const RosterDate& date);

class RosterStore {
 public:
  // Errors: notFound if there is none; corrupt; not signed by the admin.
  static Result<RosterStore> open(const std::filesystem::path& dir, const PublicKey& admin);
  // Of a directory that has none yet.
  static Result<RosterStore> create(const std::filesystem::path& dir, const PublicKey& admin, std::string document);

  const Roster& current() const { return roster_; }
  const std::string& document() const { return document_; }
  const RosterLink& link() const { return link_; }  // current(), as later ones name it
  // The key whose hash the cluster's id is.
  const PublicKey& admin() const { return admin_; }
  // Who signs rosters now, and who acts for the cluster (node/cluster/admin_acts.h).
  const AdminState& admins() const { return admins_; }

  // Takes a document in if it is newer: it has more acts of the admins, or the same and a later version. Of two
  // documents of one version, the admin's mistake, the one with the smaller bytes counts everywhere. Where two have
  // different acts of one number, the one whose act names another signer counts, whatever the key before signed since.
  // Returns whether the current one changed. Errors: not a roster of this cluster; it has other acts than are known
  // here, or does not follow upon them.
  Result<bool> adopt(std::string_view document);
  // Takes in that this device is revoked (node/cluster/revocation.h), until a later roster says otherwise. Returns
  // whether that was news. Errors: not the admin's word, or of another device.
  Result<bool> adoptRevocation(std::string_view text, std::string_view device);
  // A roster of the key that signs here that parts from current(): its device went back to an older copy, and went on.
  // Null: none was seen, or they are united.
  struct Parted {
    Roster roster;
    RosterLink link;
  };
  const Parted* parted() const { return parted_ ? &*parted_ : nullptr; }
  // For other members, that may meet the device with the key first. Empty: there is none.
  std::string partedDocument() const;
  void united();
  // Those that a replaced key admitted, as rosters show that came in here, and that are no members: people must decide.
  // `device`: empty, a person.
  struct LeftOut {
    std::string device, name;
    // Their devices go on with a key that counts no more, and know nobody else: people must decide.
    std::string words() const;
    friend bool operator==(const LeftOut&, const LeftOut&) = default;
  };
  // Each one once a process, and a few in all.
  std::vector<LeftOut> newlyLeftOut();
  // ok: the current one is on disk. Else why it could not be written.
  const Status& kept() const { return kept_; }
  const Status& keep();
  const RosterDate& date() const { return date_; }
  // By the admin, of now.
  void stamp(Time now, const SigningKey& admin);
  // Takes a date in if it is later and its roster is here. Returns whether it was taken. Errors: not the admin's; by
  // more than an hour in the future of `now`.
  Result<bool> adopt(const RosterDate& date, Time now);
  // The next version, by the admin. `next.version` is set here, and `next.before` goes on. Errors: checkRoster.
  Status publish(Roster next, const SigningKey& admin);

 private:
  RosterStore(std::filesystem::path file, const PublicKey& admin) : file_(std::move(file)), admin_(admin) {}
  void readDate();
  void readParted();
  void take(Roster roster, AdminState after, std::string document);
  // `of`: this device, where that is known.
  Result<bool> markRevoked(std::string_view text, const std::optional<std::string>& of);
  Result<bool> takeParted(Roster roster, std::string_view document, const AdminState& after);
  void noteLeftOut(const Roster& gave, const Roster& counts);
  // Whether `signer` fits a key that signed rosters before.
  bool replaced(const std::function<bool(const PublicKey&)>& signer) const;

  std::filesystem::path file_;
  PublicKey admin_;
  Roster roster_;
  std::optional<Parted> parted_;
  bool marked_ = false;  // roster_ knows a revocation that document_ lacks
  AdminState admins_;
  std::string document_;
  RosterLink link_;  // of document_
  RosterDate date_;
  Status kept_ = okStatus();
  std::vector<LeftOut> leftOut_;
  std::size_t leftOutTold_ = 0;
};

// The names that the roster on disk gives to devices, by id, of a directory that no node has open. Empty: there is no
// roster, or it cannot be read.
std::map<std::string, std::string> rosterNames(const std::filesystem::path& dir);

// ---- whether the keys in a data directory belong to its device and cluster
//
// With keys of another directory, copied by mistake, no member would accept this device, or its records would never
// agree with those of the others. DIR/cluster.key.sha256 keeps a digest of the secret that the members share. `witan
// up` checks before it opens anything else, and `witan doctor` reports the same.

// Writes down the digest of cluster.key, as it is now, for this cluster. Durable.
Status rememberClusterKey(const std::filesystem::path& dir, std::string_view cluster);

// Errors: conflict, naming the file that does not belong here and whose it is; as reading the files.
Status checkOwnKeys(const std::filesystem::path& dir, const RosterStore& rosters);

}  // namespace witan::node
