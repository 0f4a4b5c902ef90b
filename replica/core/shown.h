// What of a partition may be shown (docs/etcd.md, rule 7): what its copy adds up to, if and only if that is what its
// log says. With the embedded engine that is so between two rounds; with etcd a copy may be ahead for long.
#pragma once

#include "replica/core/partition_host.h"

namespace witan::node {

// Whether nothing is decided that may yet come to nothing.
inline bool shows(const PartitionHost& host) { return !host.ahead() && !host.partition().hasOpenBatch(); }

}  // namespace witan::node
