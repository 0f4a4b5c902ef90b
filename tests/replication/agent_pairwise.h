// Seed 003's merge of two snapshots, as tests/replication/agent_histories.h and its users call it.
#pragma once

#include "sim/explore/literal_merge.h"

namespace witan::replication::test {
using namespace literal;  // NOLINT: the same words, in the tests' namespace
}  // namespace witan::replication::test
