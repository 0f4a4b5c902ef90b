// What each route of the control API does; the table that names them is in control_routes.cpp. One function a route,
// grouped by file as here. Main thread only.
#pragma once

#include "node/api/control_api.h"

namespace witan::node::control {

// control_status.cpp
void livez(const ControlCall& call);
void readyz(const ControlCall& call);
void metrics(const ControlCall& call);
void status(const ControlCall& call);
void incidents(const ControlCall& call);
void openApiDocument(const ControlCall& call);
void logLevel(const ControlCall& call);

// control_cluster.cpp
void devices(const ControlCall& call);
void pendingDevices(const ControlCall& call);
void invite(const ControlCall& call);
void approve(const ControlCall& call);
void deny(const ControlCall& call);
void revoke(const ControlCall& call);
void setRoles(const ControlCall& call);
void rotateKey(const ControlCall& call);
void peers(const ControlCall& call);
void cutPeer(const ControlCall& call);
void healPeer(const ControlCall& call);

// control_partitions.cpp
void partitions(const ControlCall& call);
void movePartition(const ControlCall& call);
void seizePartition(const ControlCall& call);

// control_requests.cpp
void propose(const ControlCall& call);
void begin(const ControlCall& call);
void queue(const ControlCall& call);
void decide(const ControlCall& call);
void outbox(const ControlCall& call);
void feed(const ControlCall& call);

// control_ledger.cpp
void ledger(const ControlCall& call);
void ledgerStream(const ControlCall& call);
void ledgerVerify(const ControlCall& call);
void slice(const ControlCall& call);

// control_backup.cpp
void backup(const ControlCall& call);

// control_command.cpp
void command(const ControlCall& call);

}  // namespace witan::node::control
