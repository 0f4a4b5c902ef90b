#include "domains/disclosure/records/export.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "domains/disclosure/records/advisory.h"
#include "domains/disclosure/records/export_parts.h"

namespace witan::domains::disclosure {

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
