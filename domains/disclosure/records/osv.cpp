// OSV (ossf.github.io/osv-schema, 1.x).
#include "domains/disclosure/records/advisory.h"
#include "domains/disclosure/records/record_parts.h"

namespace witan::domains::disclosure {

namespace {

// Who looks after a package: its ecosystem and, where names are paths (github.com/owner/project), host and owner.
std::string orgOf(const std::string& ecosystem, const std::string& name) {
  std::string org = name;
  const std::size_t host = name.find('/');
  if (host != std::string::npos && name.find('.') < host) org = name.substr(0, name.find('/', host + 1));
  return std::string(clip(ecosystem.empty() ? org : ecosystem + "/" + org, kNameMax));
}

Status readOsvAffected(const JsonPlace& record, Advisory& out) {
  WITAN_TRY(affected, record.elements("affected"));
  for (const JsonPlace& item : affected) {
    WITAN_TRY(package, item.member("package"));
    if (!package.isNull()) {
      WITAN_TRY(name, package.requiredText("name"));
      WITAN_TRY(ecosystem, package.requiredText("ecosystem"));
      addOnce(out.orgs, orgOf(ecosystem, name));
    }
    WITAN_TRY(ranges, item.elements("ranges"));
    for (const JsonPlace& range : ranges) {
      WITAN_TRY(type, range.requiredText("type"));
      WITAN_TRY(events, range.elements("events"));
      for (const JsonPlace& event : events) {
        WITAN_TRY(fixed, event.text("fixed"));
        if (!fixed.empty() && !out.fix) out.fix = (type == "GIT" ? "fixed in commit " : "fixed in ") + fixed;
      }
    }
  }
  return okStatus();
}

// A reference of type FIX is where the fix is; REPORT, else ADVISORY, where it was reported.
Status readOsvReferences(const JsonPlace& record, Advisory& out) {
  WITAN_TRY(references, record.elements("references"));
  std::string advisory;
  bool linked = false;
  for (const JsonPlace& reference : references) {
    WITAN_TRY(type, reference.requiredText("type"));
    WITAN_TRY(url, reference.requiredText("url"));
    if (type == "FIX" && !linked) {
      out.fix = url;
      linked = true;
    }
    if (type == "REPORT" && out.channel.empty()) out.channel = url;
    if (type == "ADVISORY" && advisory.empty()) advisory = url;
  }
  if (out.channel.empty()) out.channel = advisory;
  return okStatus();
}

// The host of the database's page on it, else the database's prefix of ids.
Result<std::string> publisherOf(const JsonPlace& record, const std::string& id) {
  WITAN_TRY(database, record.member("database_specific"));
  if (!database.isNull()) {
    auto url = database.text("url");  // whatever the database puts there
    if (url && url->starts_with("https://")) return url->substr(8, url->find('/', 8) - 8);
  }
  return id.substr(0, id.find('-')) + " database";
}

}  // namespace

Result<Advisory> readOsv(const json::value& value, Time asOf) {
  const JsonPlace record(value);
  Advisory out;
  WITAN_TRY(idPlace, record.member("id"));
  WITAN_TRY(id, record.requiredText("id"));
  if (!isPlainId(id))
    return idPlace.error("\"" + std::string(clip(id, 60)) + "\" is no id", "letters, digits and ._:@/+-, at most 200");
  out.id = id;
  WITAN_TRY(modifiedPlace, record.member("modified"));
  if (modifiedPlace.isNull()) return modifiedPlace.error("is missing", "the OSV schema requires it");
  WITAN_TRY(modified, readDate(record, "modified", asOf));
  WITAN_TRY(published, readDate(record, "published", asOf));
  WITAN_TRY(withdrawn, readDate(record, "withdrawn", asOf));
  // Of a record without a date of publication its last change is the first that is known.
  out.published = published ? published : modified;
  out.withdrawn = withdrawn.has_value();
  if (isCveId(id)) out.cves.push_back(id);
  WITAN_TRY(aliases, record.elements("aliases"));
  for (const JsonPlace& alias : aliases) {
    WITAN_TRY(text, alias.text());
    if (isCveId(text)) addOnce(out.cves, text);
  }
  WITAN_DO(readOsvAffected(record, out));
  WITAN_DO(readOsvReferences(record, out));
  WITAN_TRY(severities, record.elements("severity"));
  for (const JsonPlace& severity : severities) {
    WITAN_TRY(score, severity.requiredText("score"));
    if (!out.severity) out.severity = score;
  }
  WITAN_TRY(credits, record.elements("credits"));
  for (const JsonPlace& credit : credits) {
    WITAN_TRY(name, credit.requiredText("name"));
    addOnce(out.credits, name);
  }
  if (out.credits.empty()) {
    WITAN_TRY(publisher, publisherOf(record, id));
    out.credits.push_back(publisher);
  }
  if (out.orgs.empty()) out.orgs.push_back(id.substr(0, id.find('-')));
  if (out.channel.empty()) out.channel = id;
  return out;
}

}  // namespace witan::domains::disclosure
