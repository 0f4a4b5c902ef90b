#include "domains/disclosure/records/import.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_codec.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"
#include "domains/disclosure/actions.h"
#include "rules/program/cvss.h"

namespace witan::domains::disclosure {

namespace {

// A value in a record from outside and the JSON path that leads to it ($.affected[0].package.name), so that every
// complaint names its place. Borrows the parsed record.
class JsonPlace {
 public:
  explicit JsonPlace(const json::value& root) : value_(&root), path_("$") {}

  const std::string& path() const { return path_; }
  bool isNull() const { return value_ == nullptr || value_->is_null(); }

  // A member; a missing one is a null place, which only the optional readers accept. Errors: this is no object.
  Result<JsonPlace> member(std::string_view name) const {
    JsonPlace found(nullptr, path_ + "." + std::string(name));
    if (isNull()) return found;
    if (!value_->is_object()) return wrongJsonType(path_, "an object", *value_);
    found.value_ = value_->get_object().if_contains(name);
    return found;
  }

  // The elements; none of a null place.
  Result<std::vector<JsonPlace>> elements() const {
    std::vector<JsonPlace> all;
    if (isNull()) return all;
    if (!value_->is_array()) return wrongJsonType(path_, "a list", *value_);
    const json::array& list = value_->get_array();
    if (list.size() > kListMax)
      return Error{ErrorCode::invalidInput, path_ + ": more than " + std::to_string(kListMax) + " elements", {}};
    for (std::size_t i = 0; i < list.size(); ++i)
      all.push_back(JsonPlace(&list[i], path_ + "[" + std::to_string(i) + "]"));
    return all;
  }
  Result<std::vector<JsonPlace>> elements(std::string_view name) const {
    WITAN_TRY(list, member(name));
    return list.elements();
  }

  // The text; "" of a null place.
  Result<std::string> text() const {
    if (isNull()) return std::string();
    if (!value_->is_string()) return wrongJsonType(path_, "text", *value_);
    std::string out;
    WITAN_DO(readText(*value_, out, path_));
    return out;
  }
  Result<std::string> text(std::string_view name) const {
    WITAN_TRY(place, member(name));
    return place.text();
  }
  // The same where the format demands one.
  Result<std::string> requiredText(std::string_view name) const {
    WITAN_TRY(place, member(name));
    if (place.isNull()) return place.error("is missing");
    WITAN_TRY(text, place.text());
    if (text.empty()) return place.error("is empty");
    return text;
  }

  Error error(const std::string& what, std::string hint = {}) const {
    return Error{ErrorCode::invalidInput, path_ + ": " + what, std::move(hint)};
  }

 private:
  JsonPlace(const json::value* value, std::string path) : value_(value), path_(std::move(path)) {}

  const json::value* value_;
  std::string path_;
};

// Keys of a portfolio have at most 256 bytes, and ids in canonical strings these characters (finding F13).
constexpr std::size_t kNameMax = 200;
bool isPlainId(std::string_view id) {
  return !id.empty() && id.size() <= kNameMax && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
           std::string_view("._:@/+-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// No registry of vulnerabilities is older.
constexpr std::string_view kFirstRecord = "1988-01-01T00:00:00Z";

// A date of a record; nothing where it is missing, or is the year 1, which is how Go writes that there is none.
// Errors: not a date, before there were records, after `asOf`.
Result<std::optional<Time>> readDate(const JsonPlace& record, std::string_view name, Time asOf) {
  WITAN_TRY(place, record.member(name));
  if (place.isNull()) return std::optional<Time>();
  WITAN_TRY(text, place.text());
  auto time = parseTime(text);
  if (!time) return place.error("\"" + std::string(clip(text, 40)) + "\" is no date (" + time.error().message + ")");
  if (*time == kFirstTime) return std::optional<Time>();
  if (*time < parseTime(kFirstRecord).value())
    return place.error(formatTime(*time) + " lies before there were records of vulnerabilities");
  if (*time > asOf)
    return place.error(formatTime(*time) + " lies after the import, " + formatTime(asOf),
                       "is the clock right? see --at");
  return std::optional<Time>(*time);
}

template <class Texts>
void addOnce(Texts& texts, std::string text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// ---- OSV (ossf.github.io/osv-schema, 1.x)

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
    if (!out.severity && rules::cvssTenths(score)) out.severity = score;
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

// CVE JSON 5.x (CVEProject/cve-schema, CVE_Record_Format.json).

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
      if (!out.severity && rules::cvssTenths(vector)) out.severity = vector;
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

namespace {

class Writer {
 public:
  Writer(RecordFormat format, const ImportOptions& options) : format_(format), options_(options) {}

  void begin(Time at) {
    lines_ += "{\"at\":" + toJson(at) + ",\"entity\":" + toJson(options_.entity) + ",\"init\":{}}\n";
  }

  void add(const Advisory& a) {
    const Time at = a.published.value_or(options_.asOf);
    step_ = 0;
    line(a, at, "ReporterCoordination", Intake{a.id, a.orgs});
    if (a.withdrawn) return;
    line(a, at, "ReporterCoordination", SubmitReport{a.id, a.id, a.orgs.front(), a.channel});
    line(a, at, "PatchTracking", ObserveExternalFact{a.id, "public", std::nullopt});
    std::optional<std::string> cve;
    if (!a.cves.empty()) {
      cve = a.cves.front();
      line(a, at, "PatchTracking", ObserveExternalFact{a.id, "cve", cve});
    }
    if (a.severity) line(a, at, "PatchTracking", ReviseSeverity{a.id, *a.severity, {}});
    if (a.fix) line(a, at, "PatchTracking", ReleaseFix{a.id, *a.fix});
    ExecuteDisclosure disclosure;
    disclosure.v = a.id;
    if (a.fix)
      disclosure.patchLink = a.fix;
    else
      disclosure.noPatchReason = "PUBLIC_KNOWLEDGE";
    disclosure.cve = cve;
    disclosure.attribution = a.credits;
    line(a, at, "Disclosure", disclosure);
  }

  std::string take() { return std::move(lines_); }

 private:
  template <class Process>
  void line(const Advisory& a, Time at, std::string_view role, const Process& process) {
    lines_ += "{\"action\":";
    JsonCodec<Process>::write(lines_, process, Process::name);
    lines_ += ",\"at\":" + toJson(at) + ",\"entity\":" + toJson(options_.entity) +
              ",\"operationId\":\"import:" + std::string(enumName(format_)) + ":" + a.id + ":" +
              std::to_string(++step_) + "\",\"role\":\"";
    lines_ += role;
    lines_ += "\"}\n";
  }

  RecordFormat format_;
  const ImportOptions& options_;
  std::string lines_;
  int step_ = 0;
};

}  // namespace

std::string importEvents(const std::vector<Advisory>& advisories, RecordFormat format, const ImportOptions& options) {
  const auto timeOf = [&](const Advisory& a) { return a.published.value_or(options.asOf); };
  std::vector<std::size_t> order(advisories.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return timeOf(advisories[a]) < timeOf(advisories[b]); });
  Writer writer(format, options);
  if (options.begin) writer.begin(order.empty() ? options.asOf : timeOf(advisories[order.front()]));
  for (std::size_t i : order) writer.add(advisories[i]);
  return writer.take();
}

}  // namespace witan::domains::disclosure
