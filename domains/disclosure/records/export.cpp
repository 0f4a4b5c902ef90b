#include "domains/disclosure/records/export.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/time.h"
#include "domains/disclosure/records/import.h"

namespace witan::domains::disclosure {

namespace {

bool isUrl(std::string_view text) {
  const bool web = text.starts_with("https://") || text.starts_with("http://");
  return web && text.size() > text.find("//") + 2 && text.size() <= 2048 &&
         text.find_first_of(" \t\r\n\"<>\\^`{|}") == std::string_view::npos;
}

std::string pageOf(std::string_view v, const Publisher& publisher) {
  std::string page = publisher.site;
  if (page.back() != '/') page += '/';
  // Names are keys; what a URL can't hold is escaped (RFC 3986 section 2.1).
  for (unsigned char c : v) {
    if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' || c == '.' ||
        c == '_' || c == '~')
      page += static_cast<char>(c);
    else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      page += '%';
      page += kDigits[c >> 4];
      page += kDigits[c & 15];
    }
  }
  return page;
}

// Was a fix out when it was disclosed? Its link is disc.patchLink.
bool hasFix(const VulnRow& row) { return row.discPatchLink && !row.discPatchLink->empty(); }

std::string titleOf(std::string_view v, const VulnRow& row) {
  std::string title = "Vulnerability " + std::string(v);
  if (row.discCve) title += " (" + *row.discCve + ")";
  if (row.orgs && !row.orgs->empty()) title += " in software of " + row.orgs->front();
  return title;
}

std::string descriptionOf(std::string_view v, const VulnRow& row) {
  std::string text = titleOf(v, row) + ", disclosed " + formatTime(*row.discAt) + ". ";
  if (hasFix(row))
    text += "A fix has been released: " + *row.discPatchLink + ".";
  else if (row.discNoPatchReason == "PUBLIC_KNOWLEDGE")
    text += "No fix was available; the vulnerability was publicly known.";
  else
    text += "No fix was available when its embargo elapsed.";
  if (row.severity) text += " Severity: " + *row.severity + ".";
  if (row.exploitObservedAt) text += " Exploitation has been observed.";
  return text;
}

// CSAF 2.0 (OASIS Standard), profile 5 "VEX": /document, /product_tree, /vulnerabilities with notes, a product status
// and a CVE id or ids; affected products have an action statement.

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

namespace {

// 8-4-4-4-12 lower- or upper-case digits, version 4, variant 1 (RFC 4122).
bool isUuid4(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return false;
  }
  return text[14] == '4' && std::string_view("89abAB").find(text[19]) != std::string_view::npos;
}

}  // namespace

Status Publisher::validate() const {
  if (name.empty()) return invalid("publisher: a name is needed");
  if (!isUrl(site)) return invalid("publisher: \"" + std::string(clip(site)) + "\" is no http(s) URL");
  if (!orgId.empty() && !isUuid4(orgId))
    return invalid("publisher: \"" + std::string(clip(orgId)) + "\" is no UUID of version 4",
                   "CVE Services shows the one of your organisation");
  return okStatus();
}

std::string Publisher::assignerOrgId() const {
  if (!orgId.empty()) return orgId;
  std::string hex = toHex(sha256("witan publisher " + site)).substr(0, 32);
  hex[12] = '4';
  hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) & 3];
  return hex.substr(0, 8) + '-' + hex.substr(8, 4) + '-' + hex.substr(12, 4) + '-' + hex.substr(16, 4) + '-' +
         hex.substr(20);
}

// CVE_Record_Format.json, publishedContainer: cveId, assignerOrgId, state; providerMetadata, descriptions (one
// English), affected, references.
Result<json::object> cveOf(std::string_view v, const VulnRow& row, const Publisher& publisher) {
  if (!row.discCve) return Error{ErrorCode::invalidInput, std::string(v) + " was disclosed without a CVE id", {}};
  if (!isCveId(*row.discCve))
    return Error{
        ErrorCode::invalidInput, std::string(v) + ": \"" + std::string(clip(*row.discCve)) + "\" is no CVE id", {}};
  const std::string at = formatTime(*row.discAt);
  const std::string org = publisher.assignerOrgId();
  json::array affected;
  for (const std::string& vendor : row.orgs.value_or(Texts{}))
    if (!vendor.empty() && affected.size() < 512)
      affected.push_back(json::object{
          {"defaultStatus", "unknown"}, {"product", "see the references"}, {"vendor", std::string(clip(vendor, 512))}});
  if (affected.empty())
    affected.push_back(json::object{{"defaultStatus", "unknown"}, {"product", "n/a"}, {"vendor", "n/a"}});
  json::array references{json::object{{"url", pageOf(v, publisher)}}};
  if (hasFix(row) && isUrl(*row.discPatchLink))
    references.push_back(json::object{{"tags", json::array{"patch"}}, {"url", *row.discPatchLink}});
  json::array timeline;
  for (const PhaseChange& change : row.phaseLog.value_or(std::vector<PhaseChange>{}))
    timeline.push_back(
        json::object{{"lang", "en"}, {"time", formatTime(change.at)}, {"value", enumName(change.phase)}});
  json::object cna{{"affected", std::move(affected)},
                   {"datePublic", at},
                   {"descriptions", json::array{json::object{
                                        {"lang", "en"}, {"value", std::string(clip(descriptionOf(v, row), 4000))}}}},
                   {"providerMetadata", json::object{{"dateUpdated", at}, {"orgId", org}}},
                   {"references", std::move(references)},
                   {"title", std::string(clip(titleOf(v, row), 256))}};
  if (!timeline.empty()) cna["timeline"] = std::move(timeline);
  json::array credits;
  for (const std::string& name : row.discAttribution.value_or(Texts{}))
    if (!name.empty())
      credits.push_back(json::object{{"lang", "en"}, {"type", "finder"}, {"value", std::string(clip(name, 4000))}});
  if (!credits.empty()) cna["credits"] = std::move(credits);
  return json::object{
      {"containers", json::object{{"cna", std::move(cna)}}},
      {"cveMetadata",
       json::object{{"assignerOrgId", org}, {"cveId", *row.discCve}, {"datePublished", at}, {"state", "PUBLISHED"}}},
      {"dataType", "CVE_RECORD"},
      {"dataVersion", "5.1"}};
}

Exported exportRecords(const State& state, ExportFormat format, const Publisher& publisher,
                       const std::vector<std::string>& only) {
  Exported out;
  for (const std::string& v : only)
    if (const Slot slot = state.vulns.find(v); slot == kNoSlot || !state.vulns.row(slot).discAt)
      out.leftOut.push_back(v + (slot == kNoSlot ? " is unknown" : " is not disclosed"));
  for (Slot slot : state.vulns.byKey()) {
    const std::string& v = state.vulns.key(slot);
    const VulnRow& row = state.vulns.row(slot);
    if (!row.discAt || (!only.empty() && std::find(only.begin(), only.end(), v) == only.end())) continue;
    if (format == ExportFormat::csaf) {
      out.documents.push_back(csafOf(v, row, publisher));
      continue;
    }
    if (auto record = cveOf(v, row, publisher))
      out.documents.push_back(*std::move(record));
    else
      out.leftOut.push_back(record.error().message);
  }
  return out;
}

}  // namespace witan::domains::disclosure
