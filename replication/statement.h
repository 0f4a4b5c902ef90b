// Statements: what devices say about who belongs to the cluster (replication/membership.h makes sense of them).
//
// A statement is numbered by its writer and says what its writer had read before: a dot with its causal context. The
// set only grows. Order of arrival does not matter; a statement counts once everything that it had seen is there too.
// Statements reach these functions with their signature checked. Values; pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "replication/vector_clock.h"

namespace witan::replication {

inline constexpr std::size_t kMaxStatements = 16'384;  // in a set: 50 devices that come and go 6 times use it up
inline constexpr std::size_t kMaxStatementBytes = 1024 * 1024;
inline constexpr std::size_t kMaxStatementList = 65'536;  // acked counters, seen writers
inline constexpr std::size_t kMaxDeviceNameBytes = 256;   // UTF-8
inline constexpr std::uint32_t kMaxAdmission = 1u << 20;

// The order is that of replication/membership.capnp.
WITAN_ENUM(StatementKind, admit, proposeRetire, retireAck)

struct SeenStatements {
  WITAN_DECLARED(SeenStatements, (std::string, writer), (std::uint64_t, number))
};

struct AckedCounter {
  WITAN_DECLARED(AckedCounter, (std::string, space), (std::string, writer), (std::uint64_t, counter))
};

struct Statement {
  std::string writer;
  std::uint64_t number = 0;          // from 1
  std::vector<SeenStatements> seen;  // of its own writer number - 1; by writer, no zeros
  StatementKind kind = StatementKind::admit;
  std::string device;
  std::uint32_t admission = 1;
  std::string name;                 // admit only
  std::vector<AckedCounter> acked;  // retireAck only; by space and writer, no zeros

  friend bool operator==(const Statement&, const Statement&) = default;
  WITAN_MEMBERS(Statement, writer, number, seen, kind, device, admission, name, acked)
};

// Everything that can be wrong with one statement by itself; the error names it.
Status validateStatement(const Statement& statement);

// Canonical bytes, and back; decoding validates and refuses any other bytes for the same statement, and more than
// kMaxStatementBytes. O(bytes).
std::string encodeStatement(const Statement& statement);
Result<Statement> decodeStatement(std::string_view bytes);

// The next statement of a writer that has read all of `known`: numbers it and fills `seen`. O(known). A device that
// admits another reads the other's statements first, and takes Membership::nextAdmission, so that no device is admitted
// twice at once.
Statement admit(std::span<const Statement> known, std::string_view writer, std::string_view device,
                std::uint32_t admission, std::string_view name);
Statement proposeRetire(std::span<const Statement> known, std::string_view writer, std::string_view device,
                        std::uint32_t admission);
// `acked`: countersToAck (membership.h), in any order. It must be durable before the statement leaves, and nothing may
// be accepted from `device` itself afterwards.
Statement retireAck(std::span<const Statement> known, std::string_view writer, std::string_view device,
                    std::uint32_t admission, std::vector<AckedCounter> acked);

// The union, by dot, without repetitions. From outside take no more than makes kMaxStatements together. Two statements
// of one dot both stay (Membership::forked).
std::vector<Statement> joinStatements(std::span<const Statement> a, std::span<const Statement> b);

}  // namespace witan::replication
