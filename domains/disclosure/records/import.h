// Advisory: what a public vulnerability record (OSV, CVE JSON 5.x) says that a portfolio can hold, and the readers.
//
// Pure. A record is read whole or refused whole, with the JSON path of the first thing that is wrong with it. Members
// that the formats allow and a portfolio has no place for are skipped unread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::domains::disclosure {

WITAN_ENUM(RecordFormat, osv, cve)

struct Advisory {
  std::string id;                       // the record's own
  std::optional<Time> published;        // none: the record does not say
  bool withdrawn = false;               // or rejected: it claims nothing
  std::vector<std::string> cves;        // its CVE ids, the record's first one first
  std::vector<std::string> orgs;        // who receives reports about it, at least one
  std::string channel;                  // where it was reported, as far as the record tells
  std::optional<std::string> fix;       // where the fix is, or which version has it
  std::optional<std::string> severity;  // CVSS vector of a version that the rules score (rules/program/cvss.h)
  std::vector<std::string> credits;     // people, or else who published it; at least one
};

// `asOf`: nothing was published later than that. Errors: JSON path and cause.
Result<Advisory> readOsv(const json::value& record, Time asOf);
Result<Advisory> readCve(const json::value& record, Time asOf);
inline Result<Advisory> readAdvisory(RecordFormat format, const json::value& record, Time asOf) {
  return format == RecordFormat::osv ? readOsv(record, asOf) : readCve(record, asOf);
}

// Import: advisories as events that `witan run --domain disclosure` reads: proposals and observations of one portfolio.
//
// Each advisory becomes: taken in, reported through its channel, publicly known, its CVE id observed, its fix released,
// its severity, and disclosed with its credits; a withdrawn one is only taken in. All at its date of publication,
// undated ones at the time of the import. Pure; deterministic. Operation ids follow from the record's id, so that a
// second import of the same record is a repetition.

struct ImportOptions {
  std::string entity = "portfolio";
  Time asOf;          // of the import
  bool begin = true;  // begin with the portfolio's "init" line
};

// JSON Lines in order of time.
std::string importEvents(const std::vector<Advisory>& advisories, RecordFormat format, const ImportOptions& options);

}  // namespace witan::domains::disclosure
