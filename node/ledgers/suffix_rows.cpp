#include "node/ledgers/suffix_rows.h"

#include "base/bytes.h"
#include "base/json.h"
#include "base/string_util.h"
#include "replica/core/operation_names.h"

namespace witan::node {

namespace {

// Empty: it may be asked for again.
std::string whyNot(std::string_view domain, const SuffixRecord& record) {
  if (record.tag == kernel::Tag::cCommitted || record.tag == kernel::Tag::cRejected)
    return "a counselor's answer is of what that person was shown: witan queue list";
  if (record.tag == kernel::Tag::rejected) return "it was rejected";
  if (domain == "graph") return "it is of a graph: deploy it or send the message again";
  if (record.agent) return "it is of an agent's run: wake the agent again";
  const Status may = checkChosenName(record.operationId);
  return may.ok() ? std::string() : may.error().message;
}

Status fillEntry(std::string_view domain, std::string_view payload, SuffixRecord& record) {
  WITAN_TRY(entry, kernel::readEntry(payload));
  record.seq = entry.seq, record.time = entry.time, record.tag = entry.tag;
  record.entity = entry.entity, record.operationId = entry.operationId, record.device = entry.device;
  if (!entry.agent.empty()) record.agent = entry.agent;
  if (std::string why = whyNot(domain, record); !why.empty()) {
    record.why = std::move(why);
    return okStatus();
  }
  WITAN_TRY(action, parseJson(entry.action, kOwnJson));
  record.propose = json::value{{"domain", domain},
                               {"entity", entry.entity},
                               {"role", entry.role},
                               {"operationId", entry.operationId},
                               {"action", std::move(action)}};
  return okStatus();
}

Status fillBeginning(std::string_view domain, std::string_view payload, SuffixRecord& record) {
  const std::string aligned(payload);  // a string's heap bytes are aligned
  WITAN_TRY(beginning, kernel::readGenesis(aligned));
  record.kind = SuffixKind::beginning;
  record.entity = beginning.entity, record.operationId = beginning.operationId, record.device = beginning.device;
  if (!beginning.agent.empty()) record.agent = std::string(beginning.agent);
  std::string why = beginning.operationId.empty() ? "it does not say by which fields: begin the entity again"
                                                  : whyNot(domain, record);
  if (!why.empty()) {
    record.why = std::move(why);
    return okStatus();
  }
  WITAN_TRY(fields, parseJson(beginning.fields, kOwnJson));
  record.begin = json::value{{"domain", domain},
                             {"entity", std::string(beginning.entity)},
                             {"operationId", std::string(beginning.operationId)},
                             {"init", std::move(fields)}};
  return okStatus();
}

}  // namespace

Result<SuffixRows> suffixRows(const store::Reader& ledgers) {
  WITAN_TRY(found, divergentSuffixes(ledgers));
  SuffixRows rows;
  for (DivergentSuffix& one : found)
    rows.suffixes.push_back({std::move(one.id), std::move(one.partition), one.epoch.number, std::move(one.epoch.owner),
                             one.batches, one.entries, one.beginnings});
  return rows;
}

Result<SuffixRecords> suffixRecords(const store::Reader& ledgers, std::string_view suffix, std::uint64_t after,
                                    std::size_t most) {
  SuffixRecords found;
  std::uint64_t number = 0;
  const std::string_view domain = suffix.substr(0, suffix.find('/'));
  WITAN_DO(visitSuffix(ledgers, suffix, [&](const kernel::LogRecord& log) -> Status {
    if (++number <= after || found.records.size() >= most) return okStatus();
    SuffixRecord record;
    record.number = number;
    record.leafHash = toHex(log.leaf), record.bytes = toBase64(log.payload);
    if (Status filled = log.kind == kernel::RecordKind::entry ? fillEntry(domain, log.payload, record)
                                                              : fillBeginning(domain, log.payload, record);
        !filled.ok())
      return filled;
    found.records.push_back(std::move(record));
    return okStatus();
  }));
  return found;
}

}  // namespace witan::node
