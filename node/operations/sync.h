// Operations on a device's replica: the devices that it exchanges records with, and how far each of them is.
#pragma once

#include "node/operations/operation.h"
#include "node/operations/versions.h"
#include "replication/fingerprint.h"

namespace witan::node::operations {

WITAN_STRUCT(SyncDeviceRow, (std::uint64_t, admission, "Number of the admission; 0: never admitted"),
             (std::string, device, "Id of the device"),
             (std::vector<std::string>, missingAcks, "Devices that have not acknowledged its retirement"),
             (std::string, name, "Name of the device"), (std::string, standing, "unknown, active, retiring or retired"),
             (bool, this_, "Whether it is the device that answers"))

WITAN_STRUCT(SyncDevices, (std::vector<SyncDeviceRow>, devices, "Devices, by id and admission"),
             (std::uint64_t, epoch, "Epoch of the membership; 0: no device was admitted"),
             (ByName<std::string>, quarantined, "Why devices are quarantined, by id"),
             (std::string, writer, "Id under which the device that answers writes"))

WITAN_STRUCT(SyncAdmitRequest, (std::string, device, "Id of the device", 1),
             (Omittable<std::string>, name, "Name of the device; default: its id"))

WITAN_STRUCT(SyncRetireRequest, (std::string, device, "Id of the device", 1))

WITAN_STRUCT(SyncRecoverRequest,
             (Omittable<std::string>, device, "A quarantined device, to lift its quarantine; default: this one"))

WITAN_STRUCT(SyncRecovered, (Omittable<std::string>, pardoned, "Device that may sync again"),
             (Omittable<std::string>, writer, "Id under which this device writes from now on"))

WITAN_STRUCT(SyncPeer, (std::string, device, "Id of the device"),
             (std::uint64_t, lacks, "Commits of the space that it lacks, as far as known here"),
             (ClockRow, vector, "What it has acknowledged: counters by writer"))

WITAN_STRUCT(SyncSpace, (std::uint64_t, count, "Number of versions"),
             (std::string, digest, "Equal for equal contents of the space"),
             (std::vector<SyncPeer>, peers, "Other devices"), (std::uint64_t, records, "Number of records held"),
             (bool, restored, "Whether this copy may be old"),
             (bool, settled, "Whether no part of a peer's round is outstanding"),
             (std::string, space, "DATABASE/SCOPE"), (ClockRow, vector, "What is held: counters by writer"))

WITAN_STRUCT(SyncHoldup, (bool, alarm, "Whether the device was silent for too long"),
             (std::string, device, "Id of the device"),
             (std::optional<std::int64_t>, silentMs, "Milliseconds since its last acknowledgement; null: unknown"),
             (std::uint64_t, spaces, "Number of spaces in which it lacks something"),
             (std::string, text, "The same, for people"))

WITAN_STRUCT(IncidentRow, (std::string, kind, "Kind of the incident"),
             (std::string, peer, "Id of the device concerned; empty: none"), (std::string, what, "What happened"))

WITAN_STRUCT(SyncStatus, (std::string, cluster, "Id of the cluster"), (std::string, device, "Id of this device"),
             (std::uint64_t, epoch, "Epoch of the membership"),
             (std::vector<SyncHoldup>, holdups, "Devices that keep deleted records from being forgotten"),
             (std::vector<IncidentRow>, incidents, "Incidents on record, oldest first"),
             (ByName<std::string>, names, "Names of devices, by id"),
             (ByName<std::string>, quarantined, "Why devices are quarantined, by id"),
             (std::vector<SyncSpace>, spaces, "Spaces of this device"),
             (std::string, writer, "Id under which this device writes"))

Result<SyncStatus> syncStatus(OperationContext& context, const Nothing& request);
Result<SyncDevices> listSyncDevices(OperationContext& context, const Nothing& request);
// Errors: conflict, a member already, or one that is being retired.
Result<SyncDevices> admitSyncDevice(OperationContext& context, const SyncAdmitRequest& request);
Result<SyncDevices> retireSyncDevice(OperationContext& context, const SyncRetireRequest& request);
Result<SyncRecovered> recoverSync(OperationContext& context, const SyncRecoverRequest& request);

inline constexpr Operation kSyncStatus{"GET", "/v1/sync/status", syncStatus};
inline constexpr Operation kSyncDevices{"GET", "/v1/sync/devices", listSyncDevices};
inline constexpr Operation kSyncAdmit{"POST", "/v1/sync/admit", admitSyncDevice};
inline constexpr Operation kSyncRetire{"POST", "/v1/sync/retire", retireSyncDevice};
inline constexpr Operation kSyncRecover{"POST", "/v1/sync/recover", recoverSync};

// On record, oldest first.
Result<std::vector<IncidentRow>> incidentRows(const replication::LocalReplica& replica);

// 32 hex digits; equal for equal contents of a space.
std::string digestHex(const replication::Digest& digest);

// Of a device, for people. Errors: too long, no UTF-8.
Status checkDeviceName(const std::string& name);

}  // namespace witan::node::operations
