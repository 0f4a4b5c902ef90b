// Seed 000, P1 (observation confinement), wherever something may be left behind: what a device's roles do not show it
// is looked for on the wire, in the memory of its process, on its disk, in its log, its backup and its support-bundle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>

#include "tests/net/proxy.h"
#include "tests/node/node_process.h"

namespace witan::node::confinement_test {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Random, so that they are nowhere by chance, and no compression finds half of one elsewhere.
constexpr const char *kVisible = "bQ7xW2mZ9kT4", *kClaim = "Vr3Hs8Lc5Yd1", *kNote = "nG6pJ0uE4aX7";
const std::vector<std::string> kHidden{kClaim, kNote, "baselinePositiveOn\":\"2026-01-17"};

constexpr unsigned long long kMostOfAMap = 1ULL << 30;

// What a process may have written to: its memory but for the files it has mapped.
std::string memoryOf(pid_t process) {
  const std::string at = "/proc/" + std::to_string(process);
  std::ifstream maps(at + "/maps"), memory(at + "/mem", std::ios::binary);
  std::string line, all;
  while (std::getline(maps, line)) {
    unsigned long long from = 0, to = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &from, &to, rights) != 3 || std::string(rights) != "rw-p") continue;
    if (to - from > kMostOfAMap) continue;  // a sanitizer's shadow
    std::string piece(to - from, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(from));
    memory.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    all.append(piece, 0, static_cast<std::size_t>(memory.gcount()));
  }
  return all;
}

std::string allFilesOf(const std::string& dir) {
  std::string all;
  for (const auto& file : fs::recursive_directory_iterator(dir))
    if (file.is_regular_file()) all += file.path().string() + "\n" + contentOf(file.path()) + "\n";
  return all;
}

std::string unpacked(const std::string& file) {
  gzFile in = gzopen(file.c_str(), "rb");
  std::string out, piece(65536, '\0');
  for (int got = 0; (got = gzread(in, piece.data(), static_cast<unsigned>(piece.size()))) > 0;)
    out.append(piece, 0, static_cast<std::size_t>(got));
  gzclose(in);
  return out;
}

bool holds(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }
void expectNothingHidden(const std::string& text, const char* where, const std::vector<std::string>& hidden = kHidden) {
  EXPECT_FALSE(text.empty()) << where;
  for (const std::string& word : hidden) EXPECT_FALSE(holds(text, word)) << word << " in " << where;
}

TEST(Confinement, WhatARoleDoesNotShowIsNowhereOnItsDevice) {
  const Scratch scratch;
  Node first(scratch, "first"), lab(scratch, "lab");
  // Nobody can dial the laboratory, so that everything passes the first one's door.
  net::test::Proxy door(first.address()), shut(lab.address());
  door.keep();
  shut.cut();
  ASSERT_EQ(first.init(4, {"--advertise", door.address()}).exitCode, 0);
  ASSERT_TRUE(first.up()) << first.log();
  const std::string token = first.invite({"--role", "udt.LabOrder", "--address", door.address()});
  ASSERT_EQ(lab.join(token, {"--advertise", shut.address()}).exitCode, 0);
  ASSERT_TRUE(lab.up({"--log-level", "debug"}) && lab.waitUntil("connected")) << lab.log();

  ASSERT_EQ(first.run({"begin", "udt", "David", "--init", R"({"baselinePositiveOn":"2026-01-17"})"}).exitCode, 0);
  // Members 11: who begins entities is a role of its own.
  const Finished begun = lab.run({"begin", "udt", "Maria", "--init", R"({"baselinePositiveOn":"2025-12-30"})"});
  EXPECT_NE(begun.exitCode, 0);
  EXPECT_THAT(begun.out + begun.err, HasSubstr("begin entities of udt: that needs the role udt.begin"));
  const auto act = [](const Node& node, const std::string& role, const std::string& action) {
    const Finished done = node.run({"propose", "udt", "David", role, action});
    EXPECT_THAT(done.out, HasSubstr("approved")) << role << done.err;
  };
  act(lab, "LabOrder",
      R"({"type":"DocumentRationale","order":"O1","kind":"INDIVIDUAL","text":"plan )" + std::string(kVisible) + "\"}");
  act(lab, "LabOrder",
      R"({"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-06-01"})");
  act(first, "Clinical", R"({"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-06-01"})");
  act(first, "Billing",
      R"({"type":"SubmitClaim","claim":")" + std::string(kClaim) +
          R"(","order":"O1","code":"G0480","dos":"2026-06-01"})");
  ASSERT_EQ(first.run({"journal", "put", "n1", "--type", "note", "--text", kNote}).exitCode, 0);
  // The last thing that it may see comes after all that it may not.
  act(first, "LabOrder", R"({"type":"DocumentRationale","order":"O2","kind":"INDIVIDUAL","text":"the last"})");
  ASSERT_TRUE(until([&] {
    return holds(lab.run({"slice", "udt", "David", "--role", "LabOrder"}).out, "the last");
  })) << lab.log();
  // It asks for more than it may have, in every way it has.
  (void)lab.run({"slice", "udt", "David", "--role", "Billing"});
  (void)lab.run({"ledger", "export"});
  (void)lab.run({"journal", "get", "n1"});
  (void)lab.run({"doctor"});

  const std::string there = memoryOf(first.pid()), here = memoryOf(lab.pid());
  if (!there.empty()) {
    EXPECT_TRUE(holds(there, kClaim) && holds(there, kVisible) && holds(here, kVisible)) << "the search finds nothing";
    expectNothingHidden(here, "its memory");
  }

  ASSERT_EQ(lab.run({"backup", "--with-keys", "--to", scratch / "copy"}).exitCode, 0);
  ASSERT_EQ(lab.run({"support-bundle", "--to", scratch / "b.tar.gz", "--log", lab.dir() + ".log"}).exitCode, 0);
  // Started again, it is told again, and writes its log to tables.
  ASSERT_EQ(lab.stop(), 0);
  ASSERT_TRUE(lab.up() && lab.waitUntil("connected")) << lab.log();
  ASSERT_EQ(lab.stop(), 0);

  const std::string disk = allFilesOf(lab.dir()), copy = allFilesOf(scratch / "copy");
  EXPECT_TRUE(holds(disk, kVisible) && holds(copy, kVisible)) << "the search finds nothing";
  expectNothingHidden(disk, "its disk");
  expectNothingHidden(copy, "its backup");
  expectNothingHidden(lab.log(), "its log");
  const std::string bundle = unpacked(scratch / "b.tar.gz");
  EXPECT_TRUE(holds(bundle, "witan-support/log.txt"));
  expectNothingHidden(bundle, "its support-bundle");
  EXPECT_FALSE(holds(bundle, kVisible));
  // Whoever listens on the way sees nothing at all.
  const std::string wire = door.kept();
  EXPECT_GT(wire.size(), 10'000u);
  EXPECT_TRUE(wire.starts_with("\x16\x03\x01")) << "no handshake of TLS";
  expectNothingHidden(wire, "the traffic");
  for (const char* word : {kVisible, "LabOrder", "David"}) EXPECT_FALSE(holds(wire, word)) << word;
}

// Two organisations' vulnerabilities lie in one portfolio: a device whose role is bound to one of them.
TEST(Confinement, OfAnotherOrganisationNothingIsOnTheDeviceOfOne) {
  const std::string rival = "rh5kz8wq2mv7", secret = "TjQ8rK3vXw6N", theirs = "VULN-pL4dS9yGf2", own = "c7MzB1uHe5Wo";
  const std::vector<std::string> hidden{rival, secret, theirs};
  const Scratch scratch;
  Node first(scratch, "first"), lab(scratch, "lab");
  ASSERT_EQ(first.init(4).exitCode, 0);
  ASSERT_TRUE(first.up()) << first.log();
  const std::string token =
      first.invite({"--role", "disclosure.PatchTracking:acme", "--role", "disclosure.CommitmentManagement:acme"});
  ASSERT_EQ(lab.join(token, {}).exitCode, 0);
  ASSERT_TRUE(lab.up({"--log-level", "debug"}) && lab.waitUntil("connected")) << lab.log();

  ASSERT_EQ(first.run({"begin", "disclosure", "portfolio"}).exitCode, 0);
  const auto act = [](const Node& node, const std::string& role, const std::string& action) {
    const Finished done = node.run({"propose", "disclosure", "portfolio", role, action});
    return done.out + done.err;
  };
  const auto approved = HasSubstr("approved");
  EXPECT_THAT(act(first, "ReporterCoordination", R"({"type":"Intake","v":"V1","orgs":["acme"]})"), approved);
  EXPECT_THAT(
      act(first, "ReporterCoordination", R"({"type":"Intake","v":")" + theirs + R"(","orgs":[")" + rival + "\"]}"),
      approved);
  EXPECT_THAT(act(first, "PatchTracking", R"({"type":"ReleaseFix","v":")" + theirs + R"(","ref":")" + secret + "\"}"),
              approved);
  EXPECT_THAT(act(first, "PatchTracking",
                  R"({"type":"ObserveExternalFact","v":")" + theirs + R"(","what":"cve","value":"CVE-2026-77777"})"),
              approved);
  EXPECT_THAT(act(first, "CommitmentManagement",
                  R"({"type":"PublishCommitment","hash":")" + std::string(64, 'a') +
                      R"(","alg":"SHA-256","artifact":")" + secret + R"(","v":")" + theirs + "\"}"),
              approved);
  // It acts on its own row, and on no other: neither by its name, nor by one that it mentions.
  EXPECT_THAT(act(lab, "PatchTracking", R"({"type":"ReleaseFix","v":"V1","ref":")" + own + "\"}"), approved);
  const auto refused = HasSubstr("rows that do not belong to acme");
  EXPECT_THAT(act(lab, "PatchTracking", R"({"type":"DevelopPatch","v":"V77"})"), refused);
  EXPECT_THAT(act(lab, "ReporterCoordination", R"({"type":"Intake","v":"V9","orgs":["acme"]})"),
              HasSubstr("may not propose as"));
  // What decides over it names another's row: it is told the rule, and no word more.
  const std::string clash =
      act(lab, "PatchTracking", R"({"type":"ObserveExternalFact","v":"V1","what":"cve","value":"CVE-2026-77777"})");
  EXPECT_THAT(clash, HasSubstr("CVE_ATTRIBUTION_UNIQUENESS"));
  EXPECT_THAT(clash, HasSubstr("bound to a key"));
  const json::value asked = first.runJson({"queue", "list"});
  EXPECT_THAT(canonicalJson(asked), HasSubstr(theirs)) << "the search finds nothing";

  const auto sliceOf = [](const Node& node, const std::vector<std::string>& more) {
    std::vector<std::string> words{"slice", "disclosure", "portfolio", "--role", "PatchTracking"};
    words.insert(words.end(), more.begin(), more.end());
    return node.run(words).out;
  };
  ASSERT_TRUE(until([&] { return holds(sliceOf(lab, {}), own); })) << lab.log();
  EXPECT_EQ(sliceOf(lab, {"--key", "acme"}), sliceOf(lab, {}));
  EXPECT_EQ(sliceOf(first, {"--key", "acme"}), sliceOf(lab, {}));
  EXPECT_THAT(sliceOf(first, {}), AllOf(HasSubstr(secret), HasSubstr(own)));
  EXPECT_NE(lab.run({"slice", "disclosure", "portfolio", "--role", "PatchTracking", "--key", rival}).exitCode, 0);
  (void)lab.run({"ledger", "export"});
  (void)lab.run({"doctor"});

  // The words of the last question were this test's: `rival` as a key. The rest is looked for everywhere.
  const std::vector<std::string> found{secret, theirs};
  const std::string there = memoryOf(first.pid()), here = memoryOf(lab.pid());
  if (!there.empty()) {
    EXPECT_TRUE(holds(there, secret) && holds(there, own) && holds(here, own)) << "the search finds nothing";
    expectNothingHidden(here, "its memory", found);
  }
  ASSERT_EQ(lab.stop(), 0);
  ASSERT_TRUE(lab.up() && lab.waitUntil("connected")) << lab.log();
  ASSERT_EQ(lab.stop(), 0);
  const std::string disk = allFilesOf(lab.dir());
  EXPECT_TRUE(holds(disk, own)) << "the search finds nothing";
  expectNothingHidden(disk, "its disk", hidden);
  expectNothingHidden(lab.log(), "its log", found);

  // Its role becomes another organisation's: what it had is gone.
  ASSERT_EQ(first.run({"device", "roles", "lab", "--role", "disclosure.PatchTracking:" + rival}).exitCode, 0);
  ASSERT_TRUE(lab.up() && until([&] { return holds(sliceOf(lab, {}), secret); })) << lab.log();
  EXPECT_FALSE(holds(sliceOf(lab, {}), own));
  EXPECT_NE(lab.run({"slice", "disclosure", "portfolio", "--role", "PatchTracking", "--key", "acme"}).exitCode, 0);
}

}  // namespace
}  // namespace witan::node::confinement_test
