#include "replication/statement.h"

#include <algorithm>
#include <tuple>

#include "base/capnp_codec.h"
#include "base/quote.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

Status validateSeen(const Statement& s) {
  if (s.seen.size() > kMaxStatementList) return invalid("statement.seen has too many writers");
  std::uint64_t own = 0;
  for (std::size_t i = 0; i < s.seen.size(); ++i) {
    const SeenStatements& seen = s.seen[i];
    WITAN_DO(validateWriter("statement.seen.writer", seen.writer));
    if (i > 0 && !(s.seen[i - 1].writer < seen.writer))
      return invalid("statement.seen is not in the order of the writers at " + inQuotes(seen.writer));
    if (seen.number == 0 || seen.number > kMaxStatements)
      return invalid(concat("statement.seen: ", seen.number, " is no number of a statement"));
    if (seen.writer == s.writer) own = seen.number;
  }
  if (own + 1 == s.number) return okStatus();
  return invalid(concat("statement ", s.number, " of ", s.writer, " has seen ", own, " of its writer's own"),
                 "a writer's statements follow one another");
}

Status validateAcked(const Statement& s) {
  if (s.acked.size() > kMaxStatementList) return invalid("statement.acked has too many counters");
  for (std::size_t i = 0; i < s.acked.size(); ++i) {
    const AckedCounter& acked = s.acked[i];
    WITAN_DO(validateId("statement.acked.space", acked.space));
    WITAN_DO(validateWriter("statement.acked.writer", acked.writer));
    if (acked.counter == 0) return invalid("statement.acked: a counter of 0 is left out");
    if (i == 0) continue;
    const AckedCounter& before = s.acked[i - 1];
    if (std::tie(before.space, before.writer) < std::tie(acked.space, acked.writer)) continue;
    return invalid("statement.acked is not in the order of space and writer at " + inQuotes(acked.writer));
  }
  return okStatus();
}

Statement next(std::span<const Statement> known, std::string_view writer, StatementKind kind, std::string_view device,
               std::uint32_t admission) {
  VectorClock seen;
  for (const Statement& s : known) seen.raise(s.writer, s.number);
  Statement statement{.writer = std::string(writer), .number = seen.at(writer) + 1};
  for (const auto& [by, number] : seen.entries()) statement.seen.push_back({by, number});
  statement.kind = kind;
  statement.device = device;
  statement.admission = admission;
  return statement;
}

}  // namespace

Status validateStatement(const Statement& s) {
  WITAN_DO(validateWriter("statement.writer", s.writer));
  if (s.number == 0 || s.number > kMaxStatements)
    return invalid(concat("statement.number ", s.number, " is not in 1 to ", kMaxStatements));
  WITAN_DO(validateDeviceId("statement.device", s.device));
  if (s.admission == 0 || s.admission > kMaxAdmission)
    return invalid(concat("statement.admission ", s.admission, " is not in 1 to ", kMaxAdmission));
  if (s.kind != StatementKind::admit && deviceOf(s.writer) == s.device)
    return invalid(s.device + " states its own retirement", "another device has to");
  if (s.kind != StatementKind::admit && !s.name.empty()) return invalid("only an admission gives a name");
  if (s.name.size() > kMaxDeviceNameBytes) return invalid("statement.name is longer than 256 bytes");
  if (!isUtf8(s.name)) return invalid("statement.name is not UTF-8");
  if (s.kind != StatementKind::retireAck && !s.acked.empty()) return invalid("only an ack gives counters");
  WITAN_DO(validateSeen(s));
  return validateAcked(s);
}

std::string encodeStatement(const Statement& statement) {
  WordWriter writer;
  return std::string(writer.message(statement));
}

Result<Statement> decodeStatement(std::string_view bytes) {
  if (bytes.size() > kMaxStatementBytes)
    return invalid(concat("a statement of ", bytes.size(), " bytes, more than ", kMaxStatementBytes));
  Statement statement;
  WITAN_DO(readMessage(bytes, statement, "statement"));
  WITAN_DO(validateStatement(statement));
  if (encodeStatement(statement) != bytes) return invalid("the statement's bytes are not canonical");
  return statement;
}

Statement admit(std::span<const Statement> known, std::string_view writer, std::string_view device,
                std::uint32_t admission, std::string_view name) {
  Statement statement = next(known, writer, StatementKind::admit, device, admission);
  statement.name = name;
  return statement;
}

Statement proposeRetire(std::span<const Statement> known, std::string_view writer, std::string_view device,
                        std::uint32_t admission) {
  return next(known, writer, StatementKind::proposeRetire, device, admission);
}

Statement retireAck(std::span<const Statement> known, std::string_view writer, std::string_view device,
                    std::uint32_t admission, std::vector<AckedCounter> acked) {
  Statement statement = next(known, writer, StatementKind::retireAck, device, admission);
  std::erase_if(acked, [](const AckedCounter& a) { return a.counter == 0; });
  std::ranges::sort(acked, [](const AckedCounter& a, const AckedCounter& b) {
    return std::tie(a.space, a.writer) < std::tie(b.space, b.writer);
  });
  statement.acked = std::move(acked);
  return statement;
}

std::vector<Statement> joinStatements(std::span<const Statement> a, std::span<const Statement> b) {
  std::vector<Statement> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all, [](const Statement& x, const Statement& y) {
    if (const auto order = std::tie(x.writer, x.number) <=> std::tie(y.writer, y.number); order != 0) return order < 0;
    return !(x == y) && encodeStatement(x) < encodeStatement(y);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace witan::replication
