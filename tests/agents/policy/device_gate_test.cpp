// The gate of a device: open for what stays here without a policy, closed for everything that a policy does not grant;
// confirmations are looked up among the device's records.
#include "agents/host/device_gate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "agents/host/builtin_tools.h"
#include "agents/policy/policy.h"
#include "tests/replication/cluster.h"

namespace witan::agents::device_gate_test {
namespace {

using episode::GateKind;
using episode::GateVerdict;
using episode::ToolInfo;
using replication::Kind;
using replication::receiptIn;
using replication::receiptKey;
using replication::Version;
using replication::Write;

const std::string kPolicy = R"(
name = "p"
version = 1
[[boundary]]
name = "journal"
locales = ["device"]
[[boundary.operation]]
name = "read"
allow = ["id"]
[[boundary]]
name = "meta-agent"
locales = ["device"]
[[boundary.operation]]
name = "propose"
allow = ["domain", "entity", "role", "action.type"]
confirm = true
[[grant]]
agent = "clerk"
category = "clinic"
locales = ["device"]
tools = ["journal.read", "propose", "journal.put"]
boundaries = ["journal", "meta-agent"]
)";

Monitor compiled(const std::string& text = kPolicy) {
  return Monitor::compile(parsePolicyToml(text, "p.toml").value()).value();
}

ToolInfo builtin(std::string_view name) {
  for (ToolInfo& tool : builtinTools())
    if (tool.name == name) return std::move(tool);
  ADD_FAILURE() << "no built-in tool " << name;
  return {};
}

GateVerdict judge(const DeviceGate& gate, const ToolInfo& tool, const json::object& arguments,
                  const std::string& agent = "clerk") {
  episode::GateRequest request;
  request.agent = agent;
  request.category = "clinic";
  request.span = "span";
  request.tool = &tool;
  request.arguments = &arguments;
  return gate.judge(request);
}

const json::object kProposal{{"domain", "d"}, {"entity", "e"}, {"role", "r"}, {"action", json::object{{"type", "T"}}}};

TEST(DeviceGate, WithoutAPolicyWhatStaysHereIsAllowedAndNothingElse) {
  const DeviceGate gate;
  EXPECT_EQ(gate.policy(), nullptr);
  EXPECT_EQ(gate.epoch(), "local");
  for (const ToolInfo& tool : builtinTools()) EXPECT_EQ(judge(gate, tool, {}).kind, GateKind::allow) << tool.name;
  ToolInfo away = builtin("journal.read");
  away.boundary = "cloud";
  EXPECT_EQ(judge(gate, away, {}).kind, GateKind::deny);
}

// Whoever adds a built-in tool gives policies a name for it: else a policy could not speak of it.
TEST(DeviceGate, EveryBuiltinToolHasAPlaceInPolicies) {
  DeviceGate gate;
  gate.addLedgerTool("slice.read", "read");
  for (const ToolInfo& tool : builtinTools()) {
    EXPECT_FALSE(gate.placeOf(tool.name).boundary.empty()) << tool.name;
    EXPECT_FALSE(gate.placeOf(tool.name).operation.empty()) << tool.name;
  }
  EXPECT_EQ(gate.placeOf("journal.put").boundary, "journal");
  EXPECT_EQ(gate.placeOf("journal.put").operation, "put");
  EXPECT_EQ(gate.placeOf("slice.read").boundary, "ledger");
  EXPECT_EQ(gate.placeOf("slice.read").operation, "read");
  EXPECT_TRUE(gate.placeOf("mail.send").boundary.empty());
}

TEST(DeviceGate, WithAPolicyEveryBuiltinToolIsJudged) {
  const DeviceGate closed(compiled("name = \"closed\"\nversion = 1\n"));
  for (const ToolInfo& tool : builtinTools()) {
    const GateVerdict verdict = judge(closed, tool, {});
    EXPECT_EQ(verdict.kind, GateKind::deny) << tool.name;
    EXPECT_EQ(verdict.token, "out_of_scope") << tool.name;
  }
  const DeviceGate gate(compiled());
  EXPECT_EQ(judge(gate, builtin("journal.read"), {{"id", "a"}}).kind, GateKind::allow);
  EXPECT_EQ(judge(gate, builtin("journal.read"), {{"id", "a"}}, "other").token, "out_of_scope");
  EXPECT_EQ(judge(gate, builtin("journal.read"), {{"id", "a"}, {"scope", "b"}}).token, "overshared_payload_blocked");
  EXPECT_EQ(judge(gate, builtin("journal.put"), {{"id", "a"}}).token, "out_of_scope") << "granted, but no operation";
  EXPECT_TRUE(gate.epoch().starts_with("p 1 "));
}

// All else that stands there is judged as any field.
TEST(DeviceGate, OnlyNamesOfVersionsPassInTheSettlingOfAnEntry) {
  std::string text = kPolicy;
  text.insert(text.find("[[boundary.operation]]"), "[[boundary.operation]]\nname = \"put\"\nallow = [\"id\"]\n");
  const DeviceGate gate(compiled(text));
  const ToolInfo put = builtin("journal.put");
  const auto judged = [&](const json::value& settles) { return judge(gate, put, {{"id", "a"}, {"settles", settles}}); };
  EXPECT_EQ(judged(json::array{"d1@0a1b2c3d:7", "d2:18446744073709551615"}).kind, GateKind::allow);
  for (const json::value& other :
       {json::value("d1:7"), json::value(json::array{"all of the patient's words"}), json::value(json::array{"d1:"}),
        json::value(json::array{"d1"}), json::value(json::array{json::object{{"diagnosis", "d1:7"}}})})
    EXPECT_EQ(judged(other).token, "overshared_payload_blocked") << canonicalJson(other);
  json::array many(kMaxPolicyList, json::value("d1:7"));
  EXPECT_EQ(judged(many).kind, GateKind::allow);
  many.push_back("d1:7");
  EXPECT_EQ(judged(many).token, "overshared_payload_blocked");
  EXPECT_EQ(judge(gate, put, {{"id", "a"}, {"payload", 1}, {"settles", json::array{"d1:7"}}}).token,
            "overshared_payload_blocked");
}

// Read again while agents work: it counts from the next call on. What was approved under the one before is not
// approved.
TEST(DeviceGate, AnotherPolicyCountsFromTheNextCallOn) {
  const ToolInfo tool = builtin("propose");
  std::string text = kPolicy;
  text.replace(text.find("confirm = true"), 14, "require-human = true");
  DeviceGate gate(compiled(text));
  const GateVerdict asked = judge(gate, tool, kProposal);
  ASSERT_EQ(asked.kind, GateKind::requireHuman);
  episode::GateRequest request;
  request.agent = "clerk";
  request.category = "clinic";
  request.span = "span";
  request.tool = &tool;
  request.arguments = &kProposal;
  request.approved = &*asked.digest;
  EXPECT_EQ(gate.judge(request).kind, GateKind::allow);
  text.replace(text.find("version = 1"), 11, "version = 2");
  gate.use(compiled(text));
  EXPECT_TRUE(gate.epoch().starts_with("p 2 "));
  EXPECT_EQ(gate.judge(request).kind, GateKind::requireHuman) << "the answer was to another question";
  gate.use(compiled("name = \"closed\"\nversion = 1\n"));
  EXPECT_EQ(judge(gate, builtin("journal.read"), {{"id", "a"}}).token, "out_of_scope");
}

// The grant's locales count for tools that stay on the device as well.
TEST(DeviceGate, ABoundaryWhereTheGrantsDataMayNotGetToIsClosed) {
  std::string text = kPolicy;
  text.replace(text.find("[\"device\"]"), 10, "[\"elsewhere\"]");
  const DeviceGate gate(compiled(text));
  EXPECT_EQ(judge(gate, builtin("journal.read"), {{"id", "a"}}).token, "out_of_scope");
}

TEST(DeviceGate, AConfirmationIsFoundAmongTheRecordsUntilItIsTakenBack) {
  replication::test::Device device("a");
  DeviceGate gate(compiled());
  const ToolInfo tool = builtin("propose");
  EXPECT_EQ(judge(gate, tool, kProposal).token, "privacy_confirmation_required") << "no records, no receipts";
  gate.readFrom(device.agents());
  EXPECT_EQ(judge(gate, tool, kProposal).token, "privacy_confirmation_required");

  const auto keep = [&](const PrivacyReceipt& receipt, bool remove) {
    const Write write{Kind::receipt, receiptKey(receipt), remove ? "" : *replication::encodeRecord(receipt), remove};
    ASSERT_TRUE(device.replica().commit(replication::DatabaseName::agents, "main", {&write, 1}).ok());
  };
  const PrivacyReceipt other = confirm(*gate.policy(), "another", nullptr, "meta-agent", "ann", 1);
  keep(other, false);
  EXPECT_EQ(judge(gate, tool, kProposal).token, "privacy_confirmation_required");
  const PrivacyReceipt receipt = confirm(*gate.policy(), "clerk", nullptr, "meta-agent", "ann", 1);
  keep(receipt, false);
  EXPECT_EQ(judge(gate, tool, kProposal).kind, GateKind::allow);
  EXPECT_EQ(replication::receiptsIn(device.agents())->size(), 2u);
  keep(receipt, true);
  EXPECT_EQ(judge(gate, tool, kProposal).token, "privacy_confirmation_required");
  EXPECT_EQ(replication::receiptsIn(device.agents())->size(), 1u);
}

// --- the record

PrivacyReceipt receiptBy(const std::string& person) {
  PrivacyReceipt receipt{"clerk", "", "", "meta-agent", "p", 1, {}, person, 1};
  receipt.policyDigest.fill(7);
  return receipt;
}

Version versionOf(const std::string& host, std::uint64_t counter, const std::optional<PrivacyReceipt>& receipt) {
  Version version;
  version.dot = {host, counter};
  version.context.set(host, counter);
  version.tombstone = !receipt;
  if (receipt) version.body = *replication::encodeRecord(*receipt);
  return version;
}

TEST(ReceiptRecords, TheKeyIsOfTheUseAndOfNobodyWhoConfirmedIt) {
  const PrivacyReceipt receipt = receiptBy("ann");
  EXPECT_EQ(receiptKey(receipt).size(), 64u);
  PrivacyReceipt another = receiptBy("bob");
  another.confirmedAtMs = 99;
  EXPECT_EQ(receiptKey(another), receiptKey(receipt));
  for (const auto change :
       {+[](PrivacyReceipt& r) { r.agentId = "x"; }, +[](PrivacyReceipt& r) { r.boundary = "x"; },
        +[](PrivacyReceipt& r) { r.provider = r.model = "x"; }, +[](PrivacyReceipt& r) { r.policyName = "x"; },
        +[](PrivacyReceipt& r) { ++r.policyVersion; }, +[](PrivacyReceipt& r) { r.policyDigest[0] ^= 1; }}) {
    PrivacyReceipt changed = receipt;
    change(changed);
    EXPECT_NE(receiptKey(changed), receiptKey(receipt));
  }
}

TEST(ReceiptRecords, AWithdrawalBesideAConfirmationStands) {
  const std::string key = receiptKey(receiptBy("ann"));
  const std::vector<Version> both{versionOf("a@00000001", 1, receiptBy("ann")),
                                  versionOf("b@00000001", 1, std::nullopt)};
  EXPECT_FALSE(receiptIn(key, both));
  EXPECT_TRUE(receiptIn(key, std::span(both).first(1)));
  EXPECT_FALSE(receiptIn(key, {}));
  EXPECT_FALSE(receiptIn(std::string(64, 'a'), std::span(both).first(1))) << "the key of another use";
}

TEST(ReceiptRecords, AreShownAlikeWhateverTheOrder) {
  const std::string key = receiptKey(receiptBy("ann"));
  std::vector<Version> versions{versionOf("c@00000001", 1, receiptBy("cas")),
                                versionOf("a@00000001", 1, receiptBy("ann")),
                                versionOf("b@00000001", 1, receiptBy("bob"))};
  std::sort(versions.begin(), versions.end(), [](const auto& x, const auto& y) { return x.dot < y.dot; });
  do {
    const auto shown = receiptIn(key, versions);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->confirmedBy, "ann");
  } while (std::next_permutation(versions.begin(), versions.end(),
                                 [](const auto& x, const auto& y) { return x.dot < y.dot; }));
}

}  // namespace
}  // namespace witan::agents::device_gate_test
