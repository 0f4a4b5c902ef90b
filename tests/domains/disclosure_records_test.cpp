// Public records in and out: what an import proposes is approved, every complaint names its JSON path, and what is
// exported has every member that the official schemas require.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/records/export.h"
#include "domains/disclosure/records/import.h"
#include "tests/domains/scenario_run.h"
#include "tests/paths.h"

namespace witan::domains::disclosure::disclosure_records_test {
namespace {

namespace fs = std::filesystem;
const Time kAsOf = parseTime("2026-11-22T00:00:00Z").value();

json::value read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return parseJson(text.str(), {.bytes = 16 << 20, .depth = 64}).value();
}

std::vector<fs::path> recordsIn(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Advisory> readAll(RecordFormat format, const fs::path& folder) {
  std::vector<Advisory> all;
  for (const fs::path& path : recordsIn(folder)) {
    auto advisory = readAdvisory(format, read(path), kAsOf);
    EXPECT_TRUE(advisory.ok()) << path << ": " << advisory.error().message;
    if (advisory) all.push_back(*advisory);
  }
  return all;
}

// Decides what an import proposes; every line must be approved.
std::unique_ptr<Partition> imported(const kernel::DomainModule& module, RecordFormat format, const fs::path& folder) {
  auto partition = std::make_unique<Partition>(module);
  const auto advisories = readAll(format, folder);
  for (const auto& line : test::scenarioLines(importEvents(advisories, format, {.asOf = kAsOf}))) {
    const Decision d = kernel::test::feed(*partition, line.event);
    EXPECT_TRUE(d.outcome == Outcome::approved || d.outcome == Outcome::initialised)
        << line.event.action << ": " << test::wording(d) << " " << d.message;
  }
  return partition;
}

fs::path examples(const char* which) { return fs::path(witan::tests::kSourceDir) / "docs" / "examples" / which; }
fs::path shared(const char* which) {
  return fs::path(witan::tests::kSourceDir).parent_path() / "shared" / "data" / "golang-vulndb" / which;
}

TEST(DisclosureImport, SampleOfOsv) {
  const Advisory a = readOsv(read(examples("osv") / "EXAMPLE-2026-0001.json"), kAsOf).value();
  EXPECT_EQ(a.id, "EXAMPLE-2026-0001");
  EXPECT_EQ(a.published, parseTime("2026-03-02T09:00:00Z").value());
  EXPECT_EQ(a.cves, Texts{"CVE-2026-90001"});
  EXPECT_EQ(a.orgs, Texts{"Go/git.example.org/watchface"});
  EXPECT_EQ(a.channel, "https://git.example.org/watchface/libwatchface/issues/77");
  EXPECT_EQ(a.fix, "https://git.example.org/watchface/libwatchface/commit/5f2c");
  EXPECT_EQ(a.severity, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H");
  EXPECT_EQ(a.credits, (Texts{"Ada Example", "Example Lab"}));
  EXPECT_FALSE(a.withdrawn);
  const Advisory undated = readOsv(read(examples("osv") / "EXAMPLE-2026-0002.json"), kAsOf).value();
  EXPECT_FALSE(undated.published) << "the year 1 is how Go writes no date";
  EXPECT_EQ(undated.credits, Texts{"EXAMPLE database"});
  EXPECT_TRUE(readOsv(read(examples("osv") / "EXAMPLE-2025-0003.json"), kAsOf).value().withdrawn);
}

TEST(DisclosureImport, SampleOfCve) {
  const Advisory a = readCve(read(examples("cve") / "CVE-2026-90010.json"), kAsOf).value();
  EXPECT_EQ(a.published, parseTime("2026-04-01T15:00:00.123Z").value());
  EXPECT_EQ(a.orgs, Texts{"Example Broker Project"});
  EXPECT_EQ(a.fix, "https://broker.example.org/commit/90ab");
  EXPECT_EQ(a.channel, "https://broker.example.org/issues/512");
  EXPECT_EQ(a.credits, Texts{"Grace Example"});
  EXPECT_TRUE(readCve(read(examples("cve") / "CVE-2026-90011.json"), kAsOf).value().withdrawn);
}

// Where and what: one wrong thing in an otherwise good record.
std::string complaint(RecordFormat format, const fs::path& good, const std::function<void(json::object&)>& spoil) {
  json::value record = read(good);
  spoil(record.as_object());
  const auto advisory = readAdvisory(format, record, kAsOf);
  return advisory ? "accepted" : advisory.error().message;
}

TEST(DisclosureImport, ComplaintsNameTheJsonPath) {
  const fs::path osv = examples("osv") / "EXAMPLE-2026-0001.json";
  const auto of = [&](const std::function<void(json::object&)>& spoil) {
    return complaint(RecordFormat::osv, osv, spoil);
  };
  EXPECT_EQ(of([](json::object& o) { o.erase("id"); }), "$.id: is missing");
  EXPECT_EQ(of([](json::object& o) { o.erase("modified"); }), "$.modified: is missing");
  EXPECT_TRUE(of([](json::object& o) { o["id"] = 7; }).starts_with("$.id: expected text"));
  EXPECT_TRUE(of([](json::object& o) { o["id"] = "a b"; }).starts_with("$.id: \"a b\" is no id"));
  EXPECT_TRUE(
      of([](json::object& o) { o["published"] = "yesterday"; }).starts_with("$.published: \"yesterday\" is no date"));
  EXPECT_TRUE(of([](json::object& o) { o["published"] = "2026-02-30T00:00:00Z"; }).starts_with("$.published: "));
  EXPECT_TRUE(of([](json::object& o) {
                o["published"] = "2099-01-01T00:00:00Z";
              }).starts_with("$.published: 2099-01-01T00:00:00Z lies after the import"));
  EXPECT_TRUE(of([](json::object& o) {
                o["modified"] = "1970-01-01T00:00:00Z";
              }).starts_with("$.modified: 1970-01-01T00:00:00Z lies before"));
  EXPECT_TRUE(of([](json::object& o) { o["withdrawn"] = false; }).starts_with("$.withdrawn: expected text"));
  EXPECT_TRUE(of([](json::object& o) { o["affected"] = 1; }).starts_with("$.affected: expected a list"));
  EXPECT_EQ(of([](json::object& o) { o["affected"].as_array()[0].as_object()["package"].as_object().erase("name"); }),
            "$.affected[0].package.name: is missing");
  EXPECT_TRUE(
      of([](json::object& o) { o["aliases"].as_array().push_back(1); }).starts_with("$.aliases[2]: expected text"));
  EXPECT_EQ(of([](json::object& o) { o["references"].as_array()[1].as_object().erase("url"); }),
            "$.references[1].url: is missing");
  EXPECT_EQ(of([](json::object& o) { o["credits"].as_array()[0].as_object()["name"] = ""; }),
            "$.credits[0].name: is empty");
  EXPECT_TRUE(readOsv(json::value(json::array{}), kAsOf).error().message.starts_with("$: expected an object"));

  const fs::path cve = examples("cve") / "CVE-2026-90010.json";
  const auto ofCve = [&](const std::function<void(json::object&)>& spoil) {
    return complaint(RecordFormat::cve, cve, spoil);
  };
  EXPECT_TRUE(ofCve([](json::object& o) { o["dataType"] = "CVE"; }).starts_with("$.dataType: "));
  EXPECT_TRUE(ofCve([](json::object& o) { o["dataVersion"] = "4.0"; }).starts_with("$.dataVersion: "));
  EXPECT_TRUE(ofCve([](json::object& o) {
                o["cveMetadata"].as_object()["cveId"] = "CVE-26-1";
              }).starts_with("$.cveMetadata.cveId: "));
  EXPECT_TRUE(ofCve([](json::object& o) {
                o["cveMetadata"].as_object()["state"] = "RESERVED";
              }).starts_with("$.cveMetadata.state: "));
  EXPECT_TRUE(ofCve([](json::object& o) {
                o["cveMetadata"].as_object()["dateReserved"] = "2026-05-01T00:00:00Z";
              }).starts_with("$.cveMetadata.datePublished: "));
  EXPECT_EQ(ofCve([](json::object& o) { o["containers"] = json::object{}; }), "$.containers.cna: is missing");
  EXPECT_EQ(ofCve([](json::object& o) { o["containers"].as_object()["cna"].as_object().erase("affected"); }),
            "$.containers.cna.affected: is missing or empty");
  EXPECT_TRUE(ofCve([](json::object& o) {
                o["containers"].as_object()["cna"].as_object()["credits"] = "me";
              }).starts_with("$.containers.cna.credits: expected a list"));
}

TEST(DisclosureImport, CveIds) {
  for (const char* good : {"CVE-1999-0001", "CVE-2026-12345678901234", "CVE-2026-1234567890123456789"})
    EXPECT_TRUE(isCveId(good)) << good;
  for (const char* bad : {"", "CVE-2026-123", "CVE-2026-12345678901234567890", "CVE-26-1234", "cve-2026-1234",
                          "CVE-2026-12a4", "CVE-2026-1234 "})
    EXPECT_FALSE(isCveId(bad)) << bad;
}

TEST(DisclosureImport, SamplesAreApprovedAndDisclosed) {
  const auto module = makeDomain("disclosure").value();
  for (RecordFormat format : {RecordFormat::osv, RecordFormat::cve}) {
    const auto partition = imported(*module, format, examples(std::string(enumName(format)).c_str()));
    const State& state = stateOf(*partition->state("portfolio"));
    int disclosed = 0;
    for (Slot slot : state.vulns.byKey()) disclosed += state.vulns.row(slot).discAt.has_value();
    EXPECT_EQ(disclosed, format == RecordFormat::osv ? 2 : 1) << "the withdrawn one is only taken in";
  }
}

TEST(DisclosureImport, EveryPublicRecordIsApproved) {
  if (!fs::exists(shared("osv"))) GTEST_SKIP() << "no ../shared/data/golang-vulndb beside the source folder";
  const auto module = makeDomain("disclosure").value();
  for (RecordFormat format : {RecordFormat::osv, RecordFormat::cve}) {
    const auto partition = imported(*module, format, shared(std::string(enumName(format)).c_str()));
    EXPECT_GT(partition->size(), 500u);
  }
}

// ---- export

// "$.a.b[].c" must be there, in every element.
bool hasPath(const json::value& value, std::string_view path) {
  if (path.empty()) return !value.is_null() && !(value.is_string() && value.get_string().empty());
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string_view name = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  const bool list = name.ends_with("[]");
  if (list) name.remove_suffix(2);
  if (!value.is_object() || !value.get_object().contains(name)) return false;
  const json::value& found = value.get_object().at(name);
  if (!list) return hasPath(found, rest);
  if (!found.is_array() || found.get_array().empty()) return false;
  for (const json::value& item : found.get_array())
    if (!hasPath(item, rest)) return false;
  return true;
}

// csaf_json_schema.json ("required" of every object used) and the VEX profile (4.5).
constexpr const char* kCsaf[] = {"document.category",
                                 "document.csaf_version",
                                 "document.publisher.category",
                                 "document.publisher.name",
                                 "document.publisher.namespace",
                                 "document.title",
                                 "document.tracking.current_release_date",
                                 "document.tracking.id",
                                 "document.tracking.initial_release_date",
                                 "document.tracking.revision_history[].date",
                                 "document.tracking.revision_history[].number",
                                 "document.tracking.revision_history[].summary",
                                 "document.tracking.status",
                                 "document.tracking.version",
                                 "document.references[].summary",
                                 "document.references[].url",
                                 "document.distribution.tlp.label",
                                 "product_tree.full_product_names[].name",
                                 "product_tree.full_product_names[].product_id",
                                 "vulnerabilities[].notes[].category",
                                 "vulnerabilities[].notes[].text",
                                 "vulnerabilities[].product_status.known_affected[]",
                                 "vulnerabilities[].ids[].system_name",
                                 "vulnerabilities[].ids[].text",
                                 "vulnerabilities[].remediations[].category",
                                 "vulnerabilities[].remediations[].details",
                                 "vulnerabilities[].remediations[].product_ids[]"};
// CVE_Record_Format.json, published.
constexpr const char* kCve[] = {"dataType",
                                "dataVersion",
                                "cveMetadata.cveId",
                                "cveMetadata.assignerOrgId",
                                "cveMetadata.state",
                                "containers.cna.providerMetadata.orgId",
                                "containers.cna.descriptions[].lang",
                                "containers.cna.descriptions[].value",
                                "containers.cna.affected[].vendor",
                                "containers.cna.affected[].product",
                                "containers.cna.affected[].defaultStatus",
                                "containers.cna.references[].url",
                                "containers.cna.credits[].lang",
                                "containers.cna.credits[].value",
                                "containers.cna.timeline[].time",
                                "containers.cna.timeline[].lang",
                                "containers.cna.timeline[].value"};

TEST(DisclosureExport, HasEveryRequiredMember) {
  const auto module = makeDomain("disclosure").value();
  const auto partition = imported(*module, RecordFormat::osv, examples("osv"));
  const State& state = stateOf(*partition->state("portfolio"));
  const Publisher publisher;
  ASSERT_TRUE(publisher.validate().ok());
  const Exported csaf = exportRecords(state, ExportFormat::csaf, publisher);
  ASSERT_EQ(csaf.documents.size(), 2u);
  for (const json::object& document : csaf.documents)
    for (const char* path : kCsaf) EXPECT_TRUE(hasPath(document, path)) << path << " in " << document;
  EXPECT_EQ(csaf.documents[0].at("vulnerabilities").at(0).at("cve"), "CVE-2026-90001");
  EXPECT_TRUE(hasPath(csaf.documents[0], "vulnerabilities[].product_status.fixed[]"));
  EXPECT_TRUE(hasPath(csaf.documents[0], "vulnerabilities[].acknowledgments[].names[]"));
  EXPECT_FALSE(hasPath(csaf.documents[1], "vulnerabilities[].product_status.fixed[]")) << "it has no fix";

  const Exported cve = exportRecords(state, ExportFormat::cve, publisher);
  ASSERT_EQ(cve.documents.size(), 1u);
  EXPECT_EQ(cve.leftOut, Texts{"EXAMPLE-2026-0002 was disclosed without a CVE id"});
  for (const char* path : kCve) EXPECT_TRUE(hasPath(cve.documents[0], path)) << path << " in " << cve.documents[0];
  // What goes out comes in again.
  const Advisory again = readCve(cve.documents[0], kAsOf).value();
  EXPECT_EQ(again.credits, (Texts{"Ada Example", "Example Lab"}));
  EXPECT_EQ(again.fix, "https://git.example.org/watchface/libwatchface/commit/5f2c");
}

TEST(DisclosureExport, TheCheckOfPathsFires) {
  EXPECT_FALSE(hasPath(json::object{{"a", json::array{}}}, "a[].b"));
  EXPECT_FALSE(hasPath(json::object{{"a", json::array{json::object{{"b", ""}}}}}, "a[].b"));
  EXPECT_TRUE(hasPath(json::object{{"a", json::array{json::object{{"b", 1}}}}}, "a[].b"));
}

TEST(DisclosureExport, PublishersAreChecked) {
  EXPECT_FALSE((Publisher{.name = ""}).validate().ok());
  EXPECT_FALSE((Publisher{.site = "lab.example"}).validate().ok());
  EXPECT_FALSE((Publisher{.site = "https://a b"}).validate().ok());
  EXPECT_FALSE((Publisher{.orgId = "8d9c1f0a-52f5-1c1e-9d3e-0f2a6b7c8d9e"}).validate().ok()) << "version 1";
  const Publisher own{.orgId = "8d9c1f0a-52f5-4c1e-9d3e-0f2a6b7c8d9e"};
  EXPECT_TRUE(own.validate().ok());
  EXPECT_EQ(own.assignerOrgId(), own.orgId);
  const Publisher derived;
  EXPECT_TRUE((Publisher{.orgId = derived.assignerOrgId()}).validate().ok()) << "a derived one is a UUID of version 4";
}

}  // namespace
}  // namespace witan::domains::disclosure::disclosure_records_test
