// What a daemon is told, and what it tells: configuration with the place of every error, log lines that nobody forges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdlib>

#include "base/json.h"
#include "node/api/control_tokens.h"
#include "node/config/daemon_config.h"
#include "node/etcd/etcd_gateway.h"
#include "node/telemetry/log.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::config_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string problemOf(std::string_view toml) {
  DaemonConfig config;
  Status read = readConfig(config, toml, "witan.toml");
  if (read.ok()) read = checkConfig(config);
  return read.ok() ? "" : read.error().message;
}

TEST(DaemonConfig, WhatIsPrintedReadsBack) {
  DaemonConfig config;
  config.listen = {"0.0.0.0:7600"};
  config.agents = {"udt-lab"};
  config.pendingTtlSeconds = 60;
  config.carry = false;
  DaemonConfig read;
  ASSERT_TRUE(readConfig(read, configText(config), "x").ok());
  EXPECT_EQ(configText(read), configText(config));
  EXPECT_FALSE(read.carry);
}

TEST(DaemonConfig, ErrorsNameTheLine) {
  EXPECT_EQ(problemOf("[node]\nlisten = [\"127.0.0.1:1\"]\n"), "");
  EXPECT_EQ(problemOf("[node]\n\nlissten = []\n"), "witan.toml:3: unknown key lissten in [node]");
  EXPECT_EQ(problemOf("[noode]\n"), "witan.toml:1: unknown section [noode]");
  EXPECT_EQ(problemOf("[node]\nlisten = 7\n"), "witan.toml:2: [node] listen must be a list of texts");
  EXPECT_EQ(problemOf("[ledger]\nlease_seconds = \"x\"\n"),
            "witan.toml:2: [ledger] lease_seconds must be a whole number");
  EXPECT_EQ(problemOf("[relay]\ncarry = \"yes\"\n"), "witan.toml:2: [relay] carry must be true or false");
  EXPECT_EQ(problemOf("[relay]\ncary = true\n"), "witan.toml:2: unknown key cary in [relay]");
  EXPECT_THAT(problemOf("[node]\nlisten = [\n"), HasSubstr("witan.toml:"));
  EXPECT_THAT(problemOf("[log]\nlevel = \"loud\"\n"), HasSubstr("[log] level is \"loud\""));
  EXPECT_THAT(problemOf("[ledger]\nengine = \"etcd\"\n"), HasSubstr("names no endpoint"));
  EXPECT_THAT(problemOf("[node]\nlisten = [\"nowhere\"]\n"), HasSubstr("is no address"));
}

TEST(DaemonConfig, BudgetsOfADay) {
  DaemonConfig config;
  ASSERT_TRUE(readConfig(config, "[budget.models]\nprovider = \"local\"\ntokens = 5_000\ncalls = 10\n", "x").ok());
  ASSERT_EQ(config.budgets.size(), 1u);
  EXPECT_EQ(config.budgets[0].name, "models");
  EXPECT_EQ(config.budgets[0].provider, "local");
  EXPECT_EQ(config.budgets[0].tokens, 5'000);
  EXPECT_EQ(config.budgets[0].seconds, -1);
  EXPECT_EQ(problemOf("[budget.a]\nagent = \"b\"\n"), "witan.toml:1: [budget.a] limits nothing");
  EXPECT_EQ(problemOf("[budget.a]\ncalls = -1\n"), "witan.toml:2: [budget.a] calls is negative");
  EXPECT_EQ(problemOf("[budget.a]\nmoney = 1\n"), "witan.toml:2: [budget.a] money is no key");
}

// Also values of the right type that can not be: with the line, and of a list with that of the item.
TEST(DaemonConfig, ValuesThatCannotBeAreNamedWithTheirPlace) {
  EXPECT_EQ(problemOf("[log]\n\nlevel = \"loud\"\n"), "witan.toml:3: [log] level is \"loud\"");
  EXPECT_EQ(problemOf("[log]\nformat = \"xml\"\n"), "witan.toml:2: [log] format is \"xml\"");
  EXPECT_EQ(problemOf("[node]\nlisten = [\n  \"127.0.0.1:1\",\n  \"nowhere\",\n]\n"),
            "witan.toml:4: [node] listen: \"nowhere\" is no address");
  EXPECT_EQ(problemOf("[peers]\ndial = [\"a:1\", \"b\"]\n"), "witan.toml:2: [peers] dial: \"b\" is no address");
  EXPECT_EQ(problemOf("[control]\nlisten = \"x\"\n"), "witan.toml:2: [control] listen: \"x\" is no address");
  EXPECT_THAT(problemOf("[control]\nlisten = \"192.0.2.1:1\"\n"), StartsWith("witan.toml:2: [control] listen is "));
  EXPECT_EQ(problemOf("[metrics]\nlisten = \"x\"\n"), "witan.toml:2: [metrics] listen: \"x\" is no address");
  EXPECT_THAT(problemOf("[agents]\nscope = \"\"\n"), StartsWith("witan.toml:2: [agents] scope"));
  EXPECT_EQ(problemOf("[ledger]\nlease_seconds = 0\n"), "witan.toml:2: [ledger] lease_seconds is 0");
  EXPECT_EQ(problemOf("[ledger]\npending_ttl_seconds = -1\n"), "witan.toml:2: [ledger] pending_ttl_seconds is -1");
  EXPECT_THAT(problemOf("[ledger]\nengine = \"etcd\"\n"), StartsWith("witan.toml:2: [ledger] engine is etcd"));
  DaemonConfig config;
  ASSERT_TRUE(
      readConfig(config, "[ledger]\netcd = [\"http://a:1\",\n\"ftp://b\"]\n[agents]\nrun = [\"nobody\"]", "w").ok());
  EXPECT_THAT(etcdEndpoints(config).error().message, StartsWith("w:3: [ledger] etcd: \"ftp://b\" begins with"));
  EXPECT_EQ(noSuchAgent(config, 0).message, "w:5: [agents] run: there is no agent nobody");
}

// The last word counts, and is named.
TEST(DaemonConfig, AValueOfTheEnvironmentIsNotBlamedOnTheFile) {
  DaemonConfig config;
  ASSERT_TRUE(readConfig(config, "[log]\nlevel = \"info\"\n", "witan.toml").ok());
  ASSERT_TRUE(readEnvironment(config, [](const char* name) -> const char* {
                return std::string_view(name) == "WITAN_LOG_LEVEL" ? "loud" : nullptr;
              }).ok());
  EXPECT_EQ(checkConfig(config).error().message, "$WITAN_LOG_LEVEL: [log] level is \"loud\"");
}

TEST(DaemonConfig, AListHasALimit) {
  std::string list;
  for (int i = 0; i < 65; ++i) list += "\"127.0.0.1:1\",";
  EXPECT_EQ(problemOf("[peers]\ndial = [" + list + "]\n"), "witan.toml:2: [peers] dial has more than 64 items");
}

// Tokens do not cross the network in the clear, and no length of time overflows.
TEST(DaemonConfig, WhatWouldBeUnsafeIsRefused) {
  for (const char* away : {"0.0.0.0:7601", "192.0.2.2:7601", "[::]:7601", "127.evil.example:7601", "host:7601"})
    EXPECT_THAT(problemOf("[control]\nlisten = \"" + std::string(away) + "\"\n"), HasSubstr("in the clear")) << away;
  for (const char* here : {"127.0.0.1:7601", "127.1.2.3:0", "[::1]:7601", "localhost:7601", "unix:/run/witan.sock"})
    EXPECT_EQ(problemOf("[control]\nlisten = \"" + std::string(here) + "\"\n"), "") << here;
  for (const char* seconds : {"-1", "18446744073710", "9223372036854775807"})
    EXPECT_THAT(problemOf("[ledger]\npending_ttl_seconds = " + std::string(seconds) + "\n"),
                HasSubstr("pending_ttl_seconds is "));
  EXPECT_EQ(problemOf("[ledger]\npending_ttl_seconds = 3162240000\n"), "");
}

TEST(DaemonConfig, TheEnvironmentGoesFirst) {
  DaemonConfig config;
  ASSERT_TRUE(readEnvironment(config, [](const char* name) -> const char* {
                if (std::string_view(name) == "WITAN_NODE_LISTEN") return "127.0.0.1:1,127.0.0.1:2";
                if (std::string_view(name) == "WITAN_LEDGER_LEASE_SECONDS") return "30";
                if (std::string_view(name) == "WITAN_RELAY_CARRY") return "false";
                return nullptr;
              }).ok());
  EXPECT_EQ(config.listen, (std::vector<std::string>{"127.0.0.1:1", "127.0.0.1:2"}));
  EXPECT_EQ(config.leaseSeconds, 30);
  EXPECT_FALSE(config.carry);
  const Status wrong = readEnvironment(config, [](const char* name) -> const char* {
    return std::string_view(name) == "WITAN_LEDGER_LEASE_SECONDS" ? "soon" : nullptr;
  });
  EXPECT_THAT(wrong.error().message, HasSubstr("$WITAN_LEDGER_LEASE_SECONDS is \"soon\""));
  const Status perhaps = readEnvironment(config, [](const char* name) -> const char* {
    return std::string_view(name) == "WITAN_RELAY_CARRY" ? "perhaps" : nullptr;
  });
  EXPECT_THAT(perhaps.error().message, HasSubstr("$WITAN_RELAY_CARRY is \"perhaps\""));
}

TEST(DaemonConfig, AnUnknownVariableIsRefused) {
  const std::vector<std::string> known{"PATH", "WITAN_NODE_LISTEN", "WITAN_DIR", "WITAN_LEDGER_PENDING_TTL_SECONDS"};
  EXPECT_TRUE(checkVariables(known).ok());
  const std::vector<std::string> mistyped{"PATH", "WITAN_NODE_LISTN"};
  const Status refused = checkVariables(mistyped);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalidInput);
  EXPECT_THAT(refused.error().message, HasSubstr("$WITAN_NODE_LISTN"));
  EXPECT_THAT(refused.error().hint, HasSubstr("$WITAN_NODE_LISTEN?"));
  EXPECT_THAT(refused.error().hint, HasSubstr("witan up --print-config"));
  EXPECT_FALSE(checkVariables(std::vector<std::string>{"WITAN_" + std::string(10'000, 'X')}).ok());
}

// Through the program: each command that reads the configuration refuses it.
TEST(DaemonConfig, TheProgramRefusesAnUnknownVariable) {
  const test::Scratch scratch;
  const auto up = test::runWitan({"up", "--dir", scratch / "node", "--print-config"}, {},
                                 [] { ::setenv("WITAN_NODE_LISTN", "127.0.0.1:0", 1); });
  EXPECT_EQ(up.exitCode, 1) << up.err;
  EXPECT_THAT(up.err, HasSubstr("WITAN_NODE_LISTEN"));
}

TEST(Log, NobodyForgesALine) {
  for (const bool json : {false, true}) {
    std::string written;
    Log log(
        LogLevel::info, json, [] { return Time{0}; }, [&](std::string_view line) { written += line; });
    log.warn("net", "refused\n1970-01-01T00:00:00Z info node: all is well",
             {{"from", "x\ny=\"z\""}, {"bytes", std::string("\xff\x00", 2)}});
    EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1) << written;
    if (json) {
      const auto parsed = parseJson(written.substr(0, written.size() - 1));
      ASSERT_TRUE(parsed.ok()) << written;
      EXPECT_EQ(parsed->at("level"), "warn");
      EXPECT_EQ(parsed->at("from"), "x\ny=\"z\"");
    }
  }
}

TEST(Log, WhatIsBelowTheLevelIsNotWritten) {
  std::string written;
  Log log(
      LogLevel::warn, false, [] { return Time{0}; }, [&](std::string_view line) { written += line; });
  log.info("a", "b");
  log.debug("a", "b");
  EXPECT_EQ(written, "");
  log.error("a", "b");
  EXPECT_EQ(log.errors(), 1u);
}

TEST(ControlTokens, AreMadeOnceAndKnownByTheirRole) {
  const test::Scratch scratch;
  const auto tokens = ControlTokens::open(scratch / "");
  ASSERT_TRUE(tokens.ok());
  for (const ControlRole role :
       {ControlRole::observer, ControlRole::operator_, ControlRole::counselor, ControlRole::admin})
    EXPECT_EQ(tokens->roleOf("Bearer " + tokens->of(role)), role);
  EXPECT_EQ(tokens->roleOf(tokens->of(ControlRole::admin)), std::nullopt);
  EXPECT_EQ(tokens->roleOf("Bearer "), std::nullopt);
  EXPECT_EQ(ControlTokens::open(scratch / "")->of(ControlRole::admin), tokens->of(ControlRole::admin));
  std::filesystem::permissions(scratch / "control.tokens", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(ControlTokens::read(scratch / "").error().code, ErrorCode::unauthorised);
}

TEST(ControlRoles, EachIncludesWhatItMust) {
  EXPECT_TRUE(includes(ControlRole::admin, ControlRole::counselor));
  EXPECT_TRUE(includes(ControlRole::operator_, ControlRole::observer));
  EXPECT_FALSE(includes(ControlRole::operator_, ControlRole::counselor));
  EXPECT_FALSE(includes(ControlRole::counselor, ControlRole::operator_));
  EXPECT_FALSE(includes(ControlRole::observer, ControlRole::operator_));
}

}  // namespace
}  // namespace witan::node::config_test
