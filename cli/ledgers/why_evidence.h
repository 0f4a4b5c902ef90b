// Signed evidence of a chain of causes (node/operations/why.h): a note of a device with the chain, and for each entry
// of a ledger in it the entry's bytes, its path in the Merkle tree and the signed head of that tree. It is checked
// without a node: the device answers for the chain, the ledgers' heads for their entries, the persons' keys for their
// answers.
//
//   witan-why/1 KEY-NAME at TIME \n the chain, JSON \n the entries, JSON \n \n the device's signature
//
// For commands. Blocking; values.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "kernel/record/signed_note.h"
#include "node/operations/why.h"

namespace witan::node {

// The note of a chain that the directory's device tells. Errors: conflict, no signed head covers an entry yet; invalid,
// it is too much for one note; of the files and the node.
Result<std::string> signedWhy(const std::filesystem::path& dir, const operations::Why& chain);

struct CheckedWhy {
  std::string head;  // the first line
  operations::Why chain;
  std::size_t proven = 0;            // entries of ledgers
  std::vector<std::string> persons;  // who signed an answer in it, with the key: "NAME (KEY)"
};

// Any bytes. Errors: none of the keys signed it, as a chain; an entry of a ledger that is not as the chain has it, or
// not under a head that one of the keys signed; a person's answer whose signature does not hold.
Result<CheckedWhy> checkedWhy(std::string_view note, std::span<const kernel::NoteVerifier> keys);

}  // namespace witan::node
