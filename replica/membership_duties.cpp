#include "replica/membership_duties.h"

namespace witan::node {

using namespace replication;

Result<std::size_t> payRetireAcks(LocalReplica& replica) {
  WITAN_TRY(members, replica.membership());
  const std::vector<replication::Member> due = acksDue(members, replica.device());
  if (due.empty()) return std::size_t{0};
  ClocksBySpace committed;
  for (const std::string& id : replica.spaceIds()) committed[id] = replica.findSpace(id)->clock();
  const std::vector<AckedCounter> counters = countersToAck(members, committed);
  for (const replication::Member& member : due) {
    WITAN_TRY(known, replica.statements());
    WITAN_DO(replica.addStatement(retireAck(known, replica.writer(), member.device, member.admission, counters)));
  }
  return due.size();
}

}  // namespace witan::node
