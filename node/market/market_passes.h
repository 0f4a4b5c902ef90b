// Passes of devices that do not hold the root: the device that holds it makes them anew, and they travel among the
// records of the cluster, each a document that the admin has signed (replication/records/signed_document.h), named
// DEVICE.market-pass. Who is not in the roster, or has another key there, gets none, and stands in a list that goes the
// same way (market_revoked.h). On the node's loop.
#pragma once

#include <filesystem>
#include <string>

#include "node/cluster/roster.h"
#include "node/market/market_identity.h"
#include "node/telemetry/log.h"
#include "replication/local_replica.h"

namespace witan::node {

// Where the root is: those that are due, and who has lost its say; what fails is logged. Does nothing elsewhere.
void renewPasses(replication::LocalReplica& replica, const std::filesystem::path& dir, const Roster& roster, Time now,
                 Log& log);
// Elsewhere: takes the newest one of this device. Errors: it is not for this device; of the files; ioFailed.
Status takeRenewedPass(replication::LocalReplica& replica, const std::filesystem::path& dir, const MarketOrigin& origin,
                       market::Moment now);
// The newest list of this root's revoked devices: an envelope, or empty.
std::string revokedIn(replication::LocalReplica& replica, const PublicKey& root);

}  // namespace witan::node
