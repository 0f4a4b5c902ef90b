// Export: what a portfolio has disclosed, as CSAF 2.0 documents of the VEX profile (category csaf_vex) and as CVE JSON
// 5.1 records. Each has every member that the official schema or profile requires; what the portfolio does not know
// (affected versions, a description of the flaw) is said in general words, never made up.
//
// Pure and deterministic: the same state gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domains/disclosure/state.h"

namespace witan::domains::disclosure {

WITAN_ENUM(ExportFormat, csaf, cve)

// Who publishes.
struct Publisher {
  std::string name = "Example Lab";
  std::string site = "https://lab.example";  // its namespace; pages of vulnerabilities lie below it
  std::string orgId;                         // UUID as a CNA; "": one derived from the site

  // Errors: no http(s) URL, no UUID of version 4.
  Status validate() const;
  std::string assignerOrgId() const;
};

struct Exported {
  std::vector<json::object> documents;  // in the order of the vulnerabilities' names
  std::vector<std::string> leftOut;     // one reason each
};

// The disclosed vulnerabilities of the state; with `only`, those. Requires: the publisher validates.
Exported exportRecords(const State& state, ExportFormat format, const Publisher& publisher,
                       const std::vector<std::string>& only = {});

// One document. Requires: the row has disc.at. Errors: it can't be one, and why (CVE: no valid id).
json::object csafOf(std::string_view v, const VulnRow& row, const Publisher& publisher);
Result<json::object> cveOf(std::string_view v, const VulnRow& row, const Publisher& publisher);

}  // namespace witan::domains::disclosure
