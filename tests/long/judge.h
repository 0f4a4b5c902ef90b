// Judge: whether a cluster kept its promises: what its clients were told, held against the ledgers that its nodes have
// in the end. The rules and the search are those of the simulator (sim/check/).
//
// Pure, but for readLogs(), which opens the directories of nodes that are down.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/check/operation.h"
#include "tests/long/book.h"

namespace witan::node::test {

// One partition as all nodes have it, and what was asked of it.
struct PartitionStory {
  std::string domain;
  std::vector<std::string> nodes;
  std::vector<sim::PartitionLog> logs;  // one of each node
  std::vector<sim::Operation> operations;
};
using Stories = std::map<std::string, PartitionStory>;  // by partition

// What a checker has against a story.
struct Objection {
  std::string checker, what;
};

// Those of the partitions that somebody asked something of, or that hold entries. Errors: of the stores.
Result<Stories> readLogs(const std::vector<std::string>& dirs, unsigned partitions, const Book& book);

// One objection at most of each checker:
//   copies         all nodes have the same entries (the last ones to be stopped may know of later epochs)
//   acknowledged   what somebody was told of an entry stands in every copy under that number
//   ledger-rules, fences, answers, linearizability     as in sim/check/
std::vector<Objection> judge(const PartitionStory& story);

// Whether a story has what tamper() changes: acts that were approved and such that were rejected.
bool canBeTamperedWith(const PartitionStory& story);
// Tampers with a story in every way that it knows of, one at a time, and has it judged. Requires: nothing is to object
// to; the story has acts that were approved and rejected.
struct TamperReport {
  std::size_t tried = 0;
  std::vector<std::string> unnoticed;  // what a checker that must object said nothing of
};
TamperReport tamper(const PartitionStory& story);

}  // namespace witan::node::test
