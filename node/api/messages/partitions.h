// Requests and answers of the control API about partitions and their owners. Values.
#pragma once

#include "base/json_schema.h"

namespace witan::node::api {

// Of routes whose rows may be limited to one domain.
struct DomainFilter {
  Omittable<std::string> domain;
  WITAN_MEMBERS(DomainFilter, domain)
  static constexpr std::array notes{MemberNote{"domain", "Rows of this domain only"}};
};

struct PartitionRow {
  std::string partition;
  Omittable<std::string> owner, ownerName;
  Omittable<std::uint64_t> epoch;
  Omittable<bool> ownerConnected, here;
  Omittable<std::uint64_t> entities, entries, pending;
  Omittable<bool> behindEpoch;
  WITAN_MEMBERS(PartitionRow, partition, owner, ownerName, epoch, ownerConnected, here, entities, entries, pending,
                behindEpoch)
  static constexpr std::array notes{
      MemberNote{"partition", "DOMAIN/NUMBER"},
      MemberNote{"owner", "Id of the device that decides; absent: no owner is known"},
      MemberNote{"ownerName", "Name of that device"},
      MemberNote{"epoch", "Number of the owner's epoch"},
      MemberNote{"ownerConnected", "Whether the owner is reachable from this device"},
      MemberNote{"here", "Whether this device decides; absent: it keeps no copy"},
      MemberNote{"entities", "Entities in this device's copy"},
      MemberNote{"entries", "Entries in this device's copy"},
      MemberNote{"pending", "Proposals that wait for a counselor"},
      MemberNote{"behindEpoch", "Whether the copy has not reached the owner's epoch yet"}};
};

struct Partitions {
  std::vector<PartitionRow> partitions;
  WITAN_MEMBERS(Partitions, partitions)
  static constexpr std::array notes{MemberNote{"partitions", "Partitions, by id"}};
};

struct MoveRequest {
  std::string partition, device;
  Omittable<std::string> reason;
  WITAN_MEMBERS(MoveRequest, partition, device, reason)
  static constexpr std::array notes{MemberNote{"partition", "DOMAIN/NUMBER", 1},
                                    MemberNote{"device", "Id or name of the new owner", 1},
                                    MemberNote{"reason", "Reason, for the ledger"}};
};

struct Moved {
  std::string partition, to;
  WITAN_MEMBERS(Moved, partition, to)
  static constexpr std::array notes{MemberNote{"partition", "DOMAIN/NUMBER"}, MemberNote{"to", "Id of the new owner"}};
};

struct SeizeRequest {
  std::string partition;
  Omittable<std::string> reason;
  WITAN_MEMBERS(SeizeRequest, partition, reason)
  static constexpr std::array notes{MemberNote{"partition", "DOMAIN/NUMBER", 1},
                                    MemberNote{"reason", "Reason, for the ledger"}};
};

struct Seized {
  std::string partition, owner;
  WITAN_MEMBERS(Seized, partition, owner)
  static constexpr std::array notes{MemberNote{"partition", "DOMAIN/NUMBER"},
                                    MemberNote{"owner", "Id of the new owner: this device"}};
};

}  // namespace witan::node::api
