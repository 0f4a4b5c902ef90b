// Rule files where they are kept: in a ledger, and in a node's data directory. And previews.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "domains/registry.h"
#include "kernel/ledger/ledger_verify.h"
#include "kernel/preview.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/published_document.h"
#include "node/data_dir/store_dir.h"
#include "program/durable_file.h"
#include "replication/records/signed_document.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::rule_store_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kPurchase = concat(tests::kSourceDir, "/docs/examples/purchase.domain.toml");

std::string textOf(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

kernel::Decision propose(kernel::Partition& partition, const char* role, const std::string& action, Time at) {
  const auto parsed = partition.module().parseAction(parseJson(action).value()).value();
  return partition.propose({"lab", role, concat("op-", partition.size()), "device", "", parsed.get(), at});
}

TEST(RuleStore, ALedgerHoldsTheRulesUnderWhichItWasWritten) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "ledger";
  Hash digest{};
  {
    auto opened = openStoreDir({dir, true, kPurchase});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    kernel::Partition& partition = opened->ledger->partition();
    ASSERT_EQ(partition.init("lab", {}, kSampleStart).outcome, kernel::Outcome::initialised);
    EXPECT_EQ(
        propose(partition, "Staff", R"({"type":"Ask","request":"R1","amount":400,"purpose":"chairs"})", kSampleStart)
            .outcome,
        kernel::Outcome::approved);
    EXPECT_EQ(propose(partition, "Buyer", R"({"type":"Order","request":"R2"})", kSampleStart).outcome,
              kernel::Outcome::rejected);
    ASSERT_TRUE(opened->ledger->commit().ok());
    digest = opened->module->digest();
  }
  {
    auto again = openStoreDir({dir});  // without the file
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->module->digest(), digest);
    EXPECT_EQ(again->ledger->partition().size(), 2u);
    EXPECT_EQ(again->ledger->format().rules, textOf(kPurchase));
    const auto module = domains::domainOf(again->ledger->format()).value();
    kernel::VerifyOptions options;
    options.replay = module.get();
    const auto report = kernel::verifyLedger(*again->store, options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok()) << report->problem;
    EXPECT_EQ(report->entries, 2u);
  }
  const fs::path changed = scratch / "changed.domain.toml";
  std::string text = textOf(kPurchase);
  text.replace(text.find("limit = 1000"), 12, "limit = 2000");
  std::ofstream(changed) << text;
  EXPECT_THAT(openStoreDir({dir, true, changed.string()}).error().message, HasSubstr("another policy or version"));
}

TEST(RuleStore, ANodeReadsTheInstalledFiles) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "node";
  ASSERT_TRUE(ReplicaDir::create(dir, {}).ok());
  ASSERT_TRUE(makeFolder(dir / "rules").ok());
  fs::copy_file(kPurchase, ruleFilePath(dir, "purchase"));
  NodeSetup setup;
  setup.partitions = 1;
  const Now now{kSampleStart, 0};
  auto opened = NodeDir::open(dir, setup, now);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto& known = (*opened)->replica().domains();
  EXPECT_TRUE(std::any_of(known.begin(), known.end(),
                          [](const kernel::DomainModule* module) { return module->signature().domain == "purchase"; }));
  EXPECT_EQ(known.size(), domains::domainNames().size() + 1);
  ASSERT_TRUE((*opened)->close(now).ok());
  std::ofstream(ruleFilePath(dir, "broken")) << "domain = 1";
  EXPECT_THAT(NodeDir::open(dir, setup, now).error().message, HasSubstr("broken.domain.toml"));
}

TEST(RuleStore, APublishedFileThatCannotBeTakenNeverKeepsANodeFromStarting) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "node";
  ASSERT_TRUE(ReplicaDir::create(dir, {}).ok());
  const SigningKey admin = createKey(dir, KeyName::admin).value();
  ASSERT_TRUE(writeClusterFile(dir, {toHex(admin.publicKey()), 1, "a"}).ok());
  const std::string budget = textOf(concat(tests::kSourceDir, "/docs/examples/budget.domain.toml"));
  const std::vector<std::pair<std::string, std::string>> files{
      {"budget", budget}, {"broken", "domain = 1"}, {"purchase", textOf(kPurchase)}};
  for (const char* folder : {"rules", "published"}) ASSERT_TRUE(makeFolder(dir / folder).ok());
  for (const auto& [domain, text] : files) {
    std::ofstream(ruleFilePath(dir, domain)) << text;
    const auto document = replication::sign({.kind = replication::DocumentKind::policy,
                                             .name = domain + ".domain.toml",
                                             .version = 1,
                                             .content = publishedContent(text)},
                                            admin);
    ASSERT_TRUE(document.ok()) << document.error().message;
    std::ofstream(publishedPath(dir, domain + ".domain.toml")) << replication::encodeRecord(*document).value();
  }
  NodeSetup setup;
  setup.partitions = 1;
  const Now now{kSampleStart, 0};
  {
    auto opened = NodeDir::open(dir, setup, now);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ((*opened)->replica().domains().size(), domains::domainNames().size() + 1);
    Effects effects;
    ASSERT_TRUE((*opened)->drain(now, effects).ok());
    std::string told;
    const auto incidents = (*opened)->replica().data().incidents().value();
    for (const replication::Incident& incident : incidents)
      if (incident.kind == kLeftOut) told += incident.what + "\n";
    EXPECT_THAT(told,
                testing::AllOf(HasSubstr("rules/budget.domain.toml, version 1 of the cluster's admin"),
                               HasSubstr("there is another domain budget"), HasSubstr("rules/broken.domain.toml")));
    ASSERT_TRUE((*opened)->close(now).ok());
  }
  // One that somebody has put there is that one's to mend.
  fs::remove(publishedPath(dir, "budget.domain.toml"));
  EXPECT_THAT(NodeDir::open(dir, setup, now).error().message, HasSubstr("there is another domain budget"));
}

TEST(Preview, SaysWhatEachInvariantReturnsAndWhenItWouldPass) {
  for (const std::string& name :
       {std::string("moderation"), concat(tests::kSourceDir, "/docs/examples/moderation.domain.toml")}) {
    const auto module = domains::makeDomain(name).value();
    const json::object init =
        parseJson(
            R"({"label.log":[{"id":"L1","type":"Post","entity":"p","label":"scam_link","status":"ADDED","reason":"seen",
            "at":"2025-12-01T10:00:00Z","expires":null}],"action.kind":{"a":"REMOVE_CONTENT"},"action.policy":{"a":"scam"},
            "action.item":{"a":"p"},"action.at":{"a":"2025-12-01T12:00:00Z"},"action.evidence":{"a":["L1"]},"strike.weight":{"a":5},
            "notice.action":{"n":"a"},"notice.at":{"n":"2025-12-01T11:00:00Z"},"notice.facts":{"n":"f"},"notice.clause":{"n":"c"},
            "notice.redress":{"n":"r"},"case.phase":"ACTIONED"})")
            .value()
            .as_object();
    const auto entity = module->create(init, kSampleStart);
    ASSERT_TRUE(entity.ok()) << entity.error().message;
    std::string before, after;
    module->writeState(before, **entity);
    const auto close = module->parseAction(json::object{{"type", "CloseCase"}}).value();
    const kernel::Preview preview = kernel::previewOf(*module, **entity, false, "Enforcement", *close, kSampleStart);
    EXPECT_EQ(preview.outcome, kernel::Outcome::rejected);
    ASSERT_EQ(preview.invariants.size(), module->signature().invariants.size() + 1);
    for (const kernel::PreviewedInvariant& one : preview.invariants) {
      const bool window = one.id == "UCM_APPEAL_WINDOW";
      EXPECT_EQ(one.verdict, window ? kernel::InvResult::reject : kernel::InvResult::pass) << one.id;
      // 182 days after the action; the first morning after.
      if (window) {
        EXPECT_EQ(formatTime(one.passesAt.value()), "2026-06-02T00:00:00Z");
      }
    }
    const kernel::Preview other = kernel::previewOf(*module, **entity, true, "Appeals", *close, kSampleStart);
    EXPECT_EQ(other.outcome, kernel::Outcome::frozen);
    ASSERT_EQ(other.invariants.size(), 1u);
    EXPECT_EQ(other.invariants[0].id, "KERNEL_INTEGRITY");
    module->writeState(after, **entity);
    EXPECT_EQ(before, after);
  }
}

}  // namespace
}  // namespace witan::node::rule_store_test
