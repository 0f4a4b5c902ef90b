// Requests and answers of the control API about ledgers and slices. Values.
#pragma once

#include "base/json_schema.h"
#include "kernel/record/entry.h"
#include "node/api/messages/requests.h"

namespace witan::node::api {

struct LedgerRequest {
  Omittable<std::string> domain, partition, entity;
  Omittable<std::uint64_t> after, limit;
  WITAN_MEMBERS(LedgerRequest, domain, partition, entity, after, limit)
  static constexpr std::array notes{
      MemberNote{"domain", "Entries of this domain only"}, MemberNote{"partition", "Entries of this partition only"},
      MemberNote{"entity", "Entries of this entity only"},
      MemberNote{"after", "The oldest entries after this number, of one partition; default: the newest entries"},
      MemberNote{"limit", "Most entries to give, at most 10000; default: 20"}};
};

struct LedgerEntry {
  std::uint64_t seq = 0;
  Time time;
  kernel::Tag tag{};
  Omittable<std::string> entity, role, device, agent, operationId, runKey, planDigest;
  Omittable<json::value> action;
  Omittable<std::string> invariant, message;
  Omittable<json::value> writes;
  std::map<std::string, kernel::InvResult> verdicts;
  Omittable<std::vector<FindingRow>> findings;
  Omittable<std::string> counselor;
  Omittable<std::uint64_t> escalation;
  Omittable<std::string> reason;
  Omittable<json::value> decision;
  std::string stateDigest;
  Omittable<json::value> genesis;
  WITAN_MEMBERS(LedgerEntry, seq, time, tag, entity, role, device, agent, operationId, runKey, planDigest, action,
                invariant, message, writes, verdicts, findings, counselor, escalation, reason, decision, stateDigest,
                genesis)
  static constexpr std::array notes{MemberNote{"seq", "Number of the entry in its partition"},
                                    MemberNote{"time", "When it was decided"},
                                    MemberNote{"tag", "Kind of the entry"},
                                    MemberNote{"entity", "Id of the entity"},
                                    MemberNote{"role", "Role of the proposer"},
                                    MemberNote{"device", "Id of the proposer's device"},
                                    MemberNote{"agent", "Id of the proposing agent"},
                                    MemberNote{"operationId", "Id of the operation"},
                                    MemberNote{"runKey", "Key of the agent's run"},
                                    MemberNote{"planDigest", "Digest of the agent's plan"},
                                    MemberNote{"action", "The action"},
                                    MemberNote{"invariant", "Invariant that did not pass"},
                                    MemberNote{"message", "Message of that invariant"},
                                    MemberNote{"writes", "Fields that the entry writes"},
                                    MemberNote{"verdicts", "Result by invariant, of those that were evaluated"},
                                    MemberNote{"findings", "Every invariant that did not pass"},
                                    MemberNote{"counselor", "Name of the counselor"},
                                    MemberNote{"escalation", "Number of the escalation that is decided"},
                                    MemberNote{"reason", "Reason that was given"},
                                    MemberNote{"decision", "Base and edit of a commit"},
                                    MemberNote{"stateDigest", "Digest of the entity's states up to this entry"},
                                    MemberNote{"genesis", "Domain, policy and partition of a first entry"}};
};

struct LedgerRow {
  std::string partition;
  std::uint64_t seq = 0;
  std::string leafHash, story;
  std::optional<LedgerEntry> entry;
  WITAN_MEMBERS(LedgerRow, partition, seq, leafHash, story, entry)
  static constexpr std::array notes{
      MemberNote{"partition", "DOMAIN/NUMBER"}, MemberNote{"seq", "Number of the entry in its partition"},
      MemberNote{"leafHash", "Hash of the entry's bytes as a leaf of the Merkle tree"},
      MemberNote{"story", "The entry in one line"}, MemberNote{"entry", "The entry; null: its bytes are damaged"}};
};

struct LedgerRows {
  JsonAs<std::vector<LedgerRow>> entries;
  WITAN_MEMBERS(LedgerRows, entries)
  static constexpr std::array notes{MemberNote{"entries", "Entries, oldest first"}};
};

struct StreamRequest {
  Omittable<std::string> domain, partition, entity;
  WITAN_MEMBERS(StreamRequest, domain, partition, entity)
  static constexpr std::array notes{MemberNote{"domain", "Entries of this domain only"},
                                    MemberNote{"partition", "Entries of this partition only: DOMAIN/NUMBER"},
                                    MemberNote{"entity", "Entries of this entity only"}};
};

struct VerifyRequest {
  Omittable<bool> replay;
  WITAN_MEMBERS(VerifyRequest, replay)
  static constexpr std::array notes{MemberNote{"replay", "true: decides every entry again"}};
};

struct LedgerVerdict {
  std::string partition;
  std::uint64_t entries = 0;
  std::string root;
  std::optional<std::string> problem;
  WITAN_MEMBERS(LedgerVerdict, partition, entries, root, problem)
  static constexpr std::array notes{
      MemberNote{"partition", "DOMAIN/NUMBER"}, MemberNote{"entries", "Number of entries"},
      MemberNote{"root", "Root of the Merkle tree"}, MemberNote{"problem", "The first problem; null: none"}};
};

struct VerifyReport {
  bool ok = false;
  std::uint64_t entries = 0;
  std::string root;
  std::vector<LedgerVerdict> ledgers;
  WITAN_MEMBERS(VerifyReport, ok, entries, root, ledgers)
  static constexpr std::array notes{MemberNote{"ok", "Whether no ledger has a problem"},
                                    MemberNote{"entries", "Entries of all ledgers"},
                                    MemberNote{"root", "Hash over all roots: equal on devices with equal ledgers"},
                                    MemberNote{"ledgers", "Ledgers with entries or problems"}};
};

struct SliceRequest {
  std::string domain, entity;
  Omittable<std::string> role;
  WITAN_MEMBERS(SliceRequest, domain, entity, role)
  static constexpr std::array notes{
      MemberNote{"domain", "Name of the domain", 1}, MemberNote{"entity", "Id of the entity", 1},
      MemberNote{"role", "Fields that this role sees; default: all, on a device with ledgers"}};
};

struct SliceShown {
  std::string domain, entity, role, partition;
  bool frozen = false;
  Omittable<Time> at;
  Omittable<std::int64_t> ageSeconds;
  json::value state;
  WITAN_MEMBERS(SliceShown, domain, entity, role, partition, frozen, at, ageSeconds, state)
  static constexpr std::array notes{MemberNote{"domain", "Name of the domain"},
                                    MemberNote{"entity", "Id of the entity"},
                                    MemberNote{"role", "Role whose fields are shown; empty: all fields"},
                                    MemberNote{"partition", "DOMAIN/NUMBER"},
                                    MemberNote{"frozen", "Whether the entity waits for a counselor"},
                                    MemberNote{"at", "When the slice was made, on a device without ledgers"},
                                    MemberNote{"ageSeconds", "Age of the slice, on a device without ledgers"},
                                    MemberNote{"state", "Fields of the entity by name, its clock and its waivers"}};
};

}  // namespace witan::node::api
