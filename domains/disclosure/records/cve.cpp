// CVE JSON 5.x (CVEProject/cve-schema, CVE_Record_Format.json).
#include "domains/disclosure/records/advisory.h"
#include "domains/disclosure/records/record_parts.h"

namespace witan::domains::disclosure {

bool isCveId(std::string_view text) {
  const auto digits = [](std::string_view part, std::size_t least, std::size_t most) {
    return least <= part.size() && part.size() <= most &&
           std::all_of(part.begin(), part.end(), [](char c) { return '0' <= c && c <= '9'; });
  };
  return text.starts_with("CVE-") && text.size() > 9 && text[8] == '-' && digits(text.substr(4, 4), 4, 4) &&
         digits(text.substr(9), 4, 19);
}

namespace {

Status readCveAffected(const JsonPlace& cna, Advisory& out) {
  WITAN_TRY(affected, cna.elements("affected"));
  for (const JsonPlace& item : affected) {
    WITAN_TRY(vendor, item.text("vendor"));
    WITAN_TRY(package, item.text("packageName"));
    WITAN_TRY(product, item.text("product"));
    const std::string& org = !vendor.empty() && vendor != "n/a" ? vendor : !package.empty() ? package : product;
    if (org.empty()) return item.error("names neither vendor nor product nor package");
    addOnce(out.orgs, std::string(clip(org, kNameMax)));
    WITAN_TRY(versions, item.elements("versions"));
    for (const JsonPlace& version : versions) {
      WITAN_TRY(before, version.text("lessThan"));
      if (!before.empty() && before != "*" && !out.fix) out.fix = "fixed in " + before;
    }
  }
  return okStatus();
}

Status readCveReferences(const JsonPlace& cna, Advisory& out) {
  WITAN_TRY(references, cna.elements("references"));
  bool linked = false;
  for (const JsonPlace& reference : references) {
    WITAN_TRY(url, reference.requiredText("url"));
    WITAN_TRY(tags, reference.elements("tags"));
    for (const JsonPlace& tag : tags) {
      WITAN_TRY(word, tag.text());
      if (word == "patch" && !linked) {
        out.fix = url;
        linked = true;
      }
      if (word == "issue-tracking" && out.channel.empty()) out.channel = url;
    }
  }
  return okStatus();
}

// The first CVSS vector of the metrics, of whatever version.
Status readSeverity(const JsonPlace& cna, Advisory& out) {
  WITAN_TRY(metrics, cna.elements("metrics"));
  for (const JsonPlace& metric : metrics)
    for (const char* version : {"cvssV4_0", "cvssV3_1", "cvssV3_0", "cvssV2_0"}) {
      WITAN_TRY(cvss, metric.member(version));
      WITAN_TRY(vector, cvss.text("vectorString"));
      if (!vector.empty() && !out.severity) out.severity = vector;
    }
  return okStatus();
}

Status readPeople(const JsonPlace& metadata, const JsonPlace& cna, Advisory& out) {
  WITAN_TRY(credits, cna.elements("credits"));
  for (const JsonPlace& credit : credits) {
    WITAN_TRY(name, credit.requiredText("value"));
    addOnce(out.credits, name);
  }
  if (!out.credits.empty()) return okStatus();
  WITAN_TRY(assigner, metadata.text("assignerShortName"));
  WITAN_TRY(provider, cna.member("providerMetadata"));
  WITAN_TRY(shortName, provider.text("shortName"));
  WITAN_TRY(orgId, provider.text("orgId"));
  out.credits.push_back(!assigner.empty()    ? assigner
                        : !shortName.empty() ? shortName
                        : !orgId.empty()     ? "CNA " + orgId
                                             : "CVE Program");
  return okStatus();
}

// Published: when the program says so, else when the CNA made it public.
Status readDates(const JsonPlace& metadata, const JsonPlace& cna, Time asOf, Advisory& out) {
  WITAN_TRY(published, readDate(metadata, "datePublished", asOf));
  WITAN_TRY(reserved, readDate(metadata, "dateReserved", asOf));
  WITAN_TRY(made, readDate(cna, "datePublic", asOf));
  if (reserved && published && *published < *reserved) {
    WITAN_TRY(place, metadata.member("datePublished"));
    return place.error(formatTime(*published) + " lies before the id was reserved, " + formatTime(*reserved));
  }
  out.published = published ? published : made;
  return okStatus();
}

}  // namespace

Result<Advisory> readCve(const json::value& value, Time asOf) {
  const JsonPlace record(value);
  Advisory out;
  WITAN_TRY(type, record.requiredText("dataType"));
  if (type != "CVE_RECORD")
    return Error{ErrorCode::invalidInput, "$.dataType: \"" + std::string(clip(type, 40)) + "\" is not CVE_RECORD", {}};
  WITAN_TRY(version, record.requiredText("dataVersion"));
  if (!version.starts_with("5."))
    return Error{ErrorCode::invalidInput, "$.dataVersion: \"" + std::string(clip(version, 40)) + "\" is not 5.x", {}};
  WITAN_TRY(metadata, record.member("cveMetadata"));
  WITAN_TRY(id, metadata.requiredText("cveId"));
  if (!isCveId(id))
    return Error{
        ErrorCode::invalidInput, "$.cveMetadata.cveId: \"" + std::string(clip(id, 60)) + "\" is no CVE id", {}};
  out.id = id;
  WITAN_TRY(state, metadata.text("state"));
  if (!state.empty() && state != "PUBLISHED" && state != "REJECTED")
    return Error{ErrorCode::invalidInput,
                 "$.cveMetadata.state: \"" + std::string(clip(state, 40)) + "\" is neither PUBLISHED nor REJECTED",
                 {}};
  out.withdrawn = state == "REJECTED";
  WITAN_TRY(containers, record.member("containers"));
  WITAN_TRY(cna, containers.member("cna"));
  if (cna.isNull()) return cna.error("is missing");
  WITAN_DO(readDates(metadata, cna, asOf, out));
  out.cves.push_back(id);
  WITAN_DO(readCveAffected(cna, out));
  if (out.orgs.empty() && !out.withdrawn) {
    WITAN_TRY(affected, cna.member("affected"));
    return affected.error("is missing or empty");
  }
  WITAN_DO(readCveReferences(cna, out));
  WITAN_DO(readSeverity(cna, out));
  WITAN_DO(readPeople(metadata, cna, out));
  if (out.orgs.empty()) out.orgs.push_back("CVE Program");
  if (out.channel.empty()) out.channel = id;
  return out;
}

}  // namespace witan::domains::disclosure
