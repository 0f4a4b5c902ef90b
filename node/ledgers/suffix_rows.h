// The divergent suffixes of a device (replica/core/divergent_suffixes.h) as rows of JSON, for the control API of a
// running node and for commands on a data directory that no node has open. A record says how its request is made
// again: as a new request under its old operation id, so that what is in the present log already is not decided twice.
#pragma once

#include "base/message.h"
#include "base/time.h"
#include "kernel/record/entry.h"
#include "replica/core/divergent_suffixes.h"

namespace witan::node {

WITAN_STRUCT(SuffixRow, (std::string, suffix, "Id of the suffix: DOMAIN/NUMBER/EPOCH/OWNER"),
             (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, epoch, "Number of the epoch that is over"),
             (std::string, owner, "Owner of that epoch"), (std::uint64_t, batches, "Batches that are kept"),
             (std::uint64_t, entries, "Entries in them"), (std::uint64_t, beginnings, "Beginnings of entities in them"))

WITAN_STRUCT(SuffixRows, (std::vector<SuffixRow>, suffixes, "Suffixes, by partition and epoch"))

WITAN_ENUM(SuffixKind, entry, beginning)

WITAN_STRUCT(SuffixRecord, (std::uint64_t, number, "Place in the suffix, from 1"),
             (SuffixKind, kind, "An entry, or the beginning of an entity"),
             (Omittable<std::uint64_t>, seq, "Number that the entry had"),
             (Omittable<Time>, time, "When it was decided"), (Omittable<kernel::Tag>, tag, "How it was decided"),
             (std::string, entity, "Id of the entity"), (std::string, operationId, "Id of the operation"),
             (std::string, device, "Id of the device that asked"),
             (Omittable<std::string>, agent, "Id of the agent that asked"),
             (std::string, leafHash, "Hash of the bytes as a leaf of the Merkle tree"),
             (std::string, bytes, "The record's bytes in base64 (docs/ledger-format.md)"),
             (Omittable<json::value>, propose, "Body for proposeAction that asks for it again"),
             (Omittable<json::value>, begin, "Body for beginEntity that asks for it again"),
             (Omittable<std::string>, why, "Why it is not asked for again"))

WITAN_STRUCT(SuffixRecords, (std::vector<SuffixRecord>, records, "Records in the order of their log"))

// Errors: as divergentSuffixes().
Result<SuffixRows> suffixRows(const store::Reader& ledgers);

// Those after place `after`, at most `most`. Errors: as visitSuffix().
Result<SuffixRecords> suffixRecords(const store::Reader& ledgers, std::string_view suffix, std::uint64_t after,
                                    std::size_t most);

}  // namespace witan::node
