// Any bytes as an OSV and as a CVE record. A refusal names its place; what is accepted becomes actions that the domain
// reads back, and what it discloses can be exported.
#pragma once

#include "base/utf8.h"
#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/records/export.h"
#include "domains/disclosure/records/import.h"
#include "kernel/partition.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline void decideImported(const std::string& events) {
  static const auto module = domains::makeDomain("disclosure").value();
  kernel::Partition partition(*module);
  for (std::size_t at = 0; at < events.size();) {
    const std::size_t end = events.find('\n', at);
    const auto line = parseJson(std::string_view(events).substr(at, end - at), {.bytes = 1 << 24});
    WITAN_CHECK(line.ok(), "an import is JSON Lines");
    at = end + 1;
    const json::object& event = line->get_object();
    const Time when = parseTime(event.at("at").get_string()).value();
    if (event.contains("init")) {
      partition.init("portfolio", {}, when);
      continue;
    }
    const auto action = module->parseAction(event.at("action"));
    WITAN_CHECK(action.ok(), action.ok() ? "" : action.error().message);
    kernel::Proposal proposal{.entity = "portfolio",
                              .role = event.at("role").get_string(),
                              .operationId = event.at("operationId").get_string(),
                              .action = action->get(),
                              .at = when};
    const auto decided = partition.propose(proposal);
    WITAN_CHECK(decided.outcome == kernel::Outcome::approved, decided.invariant + ": " + decided.message);
  }
  const auto& state = domains::disclosure::stateOf(*partition.state("portfolio"));
  for (const auto format : {domains::disclosure::ExportFormat::csaf, domains::disclosure::ExportFormat::cve})
    for (const json::object& document : domains::disclosure::exportRecords(state, format, {}).documents)
      WITAN_CHECK(isUtf8(canonicalJson(document)), "documents are UTF-8");
}

inline void fuzzAdvisory(std::string_view text) {
  using namespace domains::disclosure;
  const auto record = parseJson(text, {.bytes = 1 << 20, .depth = 64});
  if (!record.ok()) return;
  const Time asOf = parseTime("2026-11-22T00:00:00Z").value();
  for (const RecordFormat format : {RecordFormat::osv, RecordFormat::cve}) {
    const auto advisory = readAdvisory(format, *record, asOf);
    if (!advisory.ok())
      WITAN_CHECK(advisory.error().message.starts_with("$"), "a refusal names its place");
    else
      decideImported(importEvents({*advisory}, format, {.asOf = asOf}));
  }
}

}  // namespace witan::fuzz
