// CSAF 2.0 (OASIS Standard), profile 5 "VEX": /document, /product_tree, /vulnerabilities with notes, a product status
// and a CVE id or ids; affected products have an action statement.
#include "domains/disclosure/records/advisory.h"
#include "domains/disclosure/records/export_parts.h"

namespace witan::domains::disclosure {

namespace {

constexpr const char* kAffected = "CSAFPID-0001";
constexpr const char* kFixed = "CSAFPID-0002";

json::object trackingOf(std::string_view v, const VulnRow& row) {
  const std::string at = formatTime(*row.discAt);
  // 3.2.1.12.4: ids have no line breaks and no white space at their ends; keys may hold anything.
  std::string id;
  for (unsigned char c : v) id += c < 0x20 || c == 0x7f ? '_' : static_cast<char>(c);
  while (!id.empty() && id.back() == ' ') id.pop_back();
  while (!id.empty() && id.front() == ' ') id.erase(0, 1);
  return {
      {"current_release_date", at},
      {"id", id.empty() ? "_" : id},
      {"initial_release_date", at},
      {"revision_history", json::array{json::object{{"date", at}, {"number", "1"}, {"summary", "Initial version."}}}},
      {"status", "final"},
      {"version", "1"}};
}

json::object documentOf(std::string_view v, const VulnRow& row, const Publisher& publisher) {
  return {
      {"category", "csaf_vex"},
      {"csaf_version", "2.0"},
      {"distribution", json::object{{"tlp", json::object{{"label", "WHITE"}}}}},
      {"publisher", json::object{{"category", "coordinator"}, {"name", publisher.name}, {"namespace", publisher.site}}},
      {"references", json::array{json::object{
                         {"category", "self"}, {"summary", "This vulnerability"}, {"url", pageOf(v, publisher)}}}},
      {"title", titleOf(v, row)},
      {"tracking", trackingOf(v, row)}};
}

std::string softwareOf(const VulnRow& row) {
  std::string orgs;
  if (row.orgs)
    for (const std::string& org : *row.orgs) orgs += (orgs.empty() ? "" : ", ") + org;
  return "software of " + (orgs.empty() ? std::string("unnamed organisations") : orgs);
}

json::object productsOf(const VulnRow& row) {
  json::array names{
      json::object{{"name", softwareOf(row) + (hasFix(row) ? ", before the fix" : "")}, {"product_id", kAffected}}};
  if (hasFix(row)) names.push_back(json::object{{"name", softwareOf(row) + ", with the fix"}, {"product_id", kFixed}});
  return {{"full_product_names", std::move(names)}};
}

json::object remediationOf(const VulnRow& row) {
  if (!hasFix(row))
    return {{"category", "none_available"}, {"details", "No fix is known."}, {"product_ids", json::array{kAffected}}};
  json::object fix{{"category", "vendor_fix"},
                   {"details", "Apply the released fix: " + *row.discPatchLink},
                   {"product_ids", json::array{kAffected}}};
  if (row.patchReleasedAt && *row.patchReleasedAt <= *row.discAt) fix["date"] = formatTime(*row.patchReleasedAt);
  if (isUrl(*row.discPatchLink)) fix["url"] = *row.discPatchLink;
  return fix;
}

json::object statusOf(const VulnRow& row) {
  json::object status{{"known_affected", json::array{kAffected}}};
  if (hasFix(row)) status["fixed"] = json::array{kFixed};
  return status;
}

}  // namespace

json::object csafOf(std::string_view v, const VulnRow& row, const Publisher& publisher) {
  json::object vulnerability{
      {"ids", json::array{json::object{{"system_name", publisher.name}, {"text", std::string(v)}}}},
      {"notes", json::array{json::object{{"category", "description"}, {"text", descriptionOf(v, row)}}}},
      {"product_status", statusOf(row)},
      {"release_date", formatTime(*row.discAt)},
      {"remediations", json::array{remediationOf(row)}},
      {"title", titleOf(v, row)}};
  if (row.discCve && isCveId(*row.discCve)) vulnerability["cve"] = *row.discCve;
  if (row.phaseLog && !row.phaseLog->empty()) vulnerability["discovery_date"] = formatTime(row.phaseLog->front().at);
  if (row.discAttribution && !row.discAttribution->empty()) {
    json::array names;
    for (const std::string& name : *row.discAttribution)
      if (!name.empty()) names.emplace_back(name);
    if (!names.empty()) vulnerability["acknowledgments"] = json::array{json::object{{"names", std::move(names)}}};
  }
  return {{"document", documentOf(v, row, publisher)},
          {"product_tree", productsOf(row)},
          {"vulnerabilities", json::array{std::move(vulnerability)}}};
}

}  // namespace witan::domains::disclosure
