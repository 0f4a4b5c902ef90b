// Import: advisories as events that `witan run --domain disclosure` reads: proposals and observations of one portfolio.
//
// Each advisory becomes: taken in, reported through its channel, publicly known, its CVE id observed, its fix released,
// its severity, and disclosed with its credits; a withdrawn one is only taken in. All at its date of publication,
// undated ones at the time of the import. Pure; deterministic. Operation ids follow from the record's id, so that a
// second import of the same record is a repetition.
#pragma once

#include <string>
#include <vector>

#include "domains/disclosure/records/advisory.h"

namespace witan::domains::disclosure {

struct ImportOptions {
  std::string entity = "portfolio";
  Time asOf;          // of the import
  bool begin = true;  // begin with the portfolio's "init" line
};

// JSON Lines in order of time.
std::string importEvents(const std::vector<Advisory>& advisories, RecordFormat format, const ImportOptions& options);

}  // namespace witan::domains::disclosure
