#include "replica/core/divergent_suffixes.h"

#include <optional>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "replica/core/log_hash_chain.h"
#include "replication/space_rows.h"

namespace witan::node {

namespace {

// "x/" partition "/" epoch's number in eight bytes, owner, "~n" of a second one, "/" the batch's number in eight bytes.
constexpr std::string_view kSuffixRows = "x/";
constexpr std::size_t kNumberBytes = 8;

std::optional<DivergentSuffix> suffixOf(std::string_view key) {
  const std::size_t domain = key.find('/', kSuffixRows.size());
  const std::size_t end = domain == key.npos ? key.npos : key.find('/', domain + 1);
  if (end == key.npos || key.size() < end + 1 + kNumberBytes + 1 + 1 + kNumberBytes) return std::nullopt;
  DivergentSuffix suffix;
  suffix.partition = key.substr(kSuffixRows.size(), end - kSuffixRows.size());
  suffix.epoch.number = replication::rows::bigEndian(key.substr(end + 1, kNumberBytes));
  const std::string_view owner =
      key.substr(end + 1 + kNumberBytes, key.size() - end - 1 - kNumberBytes - 1 - kNumberBytes);
  suffix.epoch.owner = owner.substr(0, owner.find('~'));
  suffix.id = concat(suffix.partition, "/", suffix.epoch.number, "/", owner);
  return suffix;
}

using BatchVisit = std::function<Status(const DivergentSuffix& of, std::string_view batch)>;

Status eachBatch(const store::Reader& ledgers, std::string_view prefix, const BatchVisit& visit) {
  Status status = okStatus();
  WITAN_DO(ledgers.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
    const auto suffix = suffixOf(key);
    if (!suffix)
      status = corrupt("ledgers: a divergent suffix has the key " + toHex(asBytes(key)));
    else
      status = visit(*suffix, std::string(value));  // a string's heap bytes are aligned; the store's may not be
    return status.ok();
  }));
  return status;
}

Status eachRecord(const DivergentSuffix& of, std::string_view batch,
                  const std::function<Status(const kernel::LogRecord&)>& visit) {
  Status visited = okStatus();
  const auto read = kernel::readLogBatch(batch, [&](const kernel::LogRecord& record) {
    const bool asks = record.kind == kernel::RecordKind::entry || record.kind == kernel::RecordKind::genesis;
    return visited = asks ? visit(record) : okStatus();
  });
  if (!visited.ok()) return visited;
  return read.ok() ? okStatus() : Status(corrupt(concat("the divergent suffix ", of.id, ": ", read.error().message)));
}

}  // namespace

// An epoch whose owner's disk rolled back may leave more than one.
Result<std::string> freshSuffix(const store::Store& ledgers, std::string_view partition, const kernel::Epoch& epoch) {
  for (std::uint64_t n = 0;; ++n) {
    const std::string prefix = concat(kSuffixRows, partition, "/", bigEndian(epoch.number), epoch.owner,
                                      n == 0 ? "" : "~" + std::to_string(n), "/");
    WITAN_TRY(taken, ledgers.last(prefix));
    if (!taken) return prefix;
  }
}

Result<std::vector<DivergentSuffix>> divergentSuffixes(const store::Reader& ledgers) {
  std::vector<DivergentSuffix> found;
  WITAN_DO(eachBatch(ledgers, kSuffixRows, [&](const DivergentSuffix& of, std::string_view batch) {
    if (found.empty() || found.back().id != of.id) found.push_back(of);
    DivergentSuffix& suffix = found.back();
    ++suffix.batches;
    return eachRecord(of, batch, [&](const kernel::LogRecord& record) {
      ++(record.kind == kernel::RecordKind::entry ? suffix.entries : suffix.beginnings);
      return okStatus();
    });
  }));
  return found;
}

Status visitSuffix(const store::Reader& ledgers, std::string_view id,
                   const std::function<Status(const kernel::LogRecord&)>& visit) {
  const std::size_t domain = id.find('/'), end = domain == id.npos ? id.npos : id.find('/', domain + 1);
  bool known = false;
  if (end != id.npos)
    WITAN_DO(eachBatch(ledgers, concat(kSuffixRows, id.substr(0, end + 1)),
                       [&](const DivergentSuffix& of, std::string_view batch) {
                         if (of.id != id) return okStatus();
                         known = true;
                         return eachRecord(of, batch, visit);
                       }));
  if (known) return okStatus();
  return Error{ErrorCode::notFound, "no divergent suffix " + inQuotes(id) + " is kept here", "see: witan suffix list"};
}

}  // namespace witan::node
