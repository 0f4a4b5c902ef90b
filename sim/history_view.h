// The history's requests in the words of the checkers (sim/check/operation.h), one partition at a time.
//
// Pure functions; the results own what they hold.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/check/operation.h"
#include "sim/check/partition_log.h"
#include "sim/history.h"

namespace witan::sim {

// The attempts that `isOfPartition` takes. An answer that a device had before, and that a repeated frame brought once
// more to a later attempt under the same id, counts as the repetition that it is.
std::vector<Operation> operationsOf(std::span<const RequestRecord> requests, const kernel::DomainModule& module,
                                    const std::function<bool(const node::Request&)>& isOfPartition);

// Whether the disk of the owner that answered is gone, or went back, since it was asked.
bool diskLostSince(std::span<const DiskLoss> losses, const Operation& operation);

// What seizures gave up, by the log that is left in the end: entries of an epoch beyond the place where a seizure ended
// it, and whole epochs that a seizure passed over; and epochs of which nothing is left but what was told of them,
// because their owner's disk is gone.
std::vector<LostRange> lossesOf(std::span<const Operation> operations, const PartitionLog& log,
                                std::span<const DiskLoss> losses);

}  // namespace witan::sim
