// Seed 003 section 11, test obligation 7: "fail-closed policy outcomes for all boundary and provider gates"; the gates
// of section 0.7 in the order of Flow D. Locales and capabilities: seed 004, Laws 4 and 5.
#include "agents/policy/monitor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "tests/agents/policy/example.h"

namespace witan::agents::monitor_test {
namespace {

using test::Example;
using test::OrderExample;

void expectDenied(const PolicyVerdict& verdict, PolicyToken token, const std::string& words) {
  EXPECT_EQ(verdict.kind, VerdictKind::deny) << verdict.witness;
  EXPECT_EQ(enumName(verdict.token), enumName(token)) << verdict.witness;
  EXPECT_NE(verdict.witness.find(words), std::string::npos) << verdict.witness;
  EXPECT_FALSE(verdict.mayRun());
  EXPECT_FALSE(verdict.projected) << "nothing that could be sent by mistake";
  EXPECT_FALSE(verdict.digest);
}

TEST(Obligation7, TheTokensAreThoseOfTheSeed) {
  EXPECT_EQ(JsonCodec<PolicyToken>::words(),
            "none, out_of_scope, disallowed_provider_model, privacy_confirmation_required, secret_unavailable, "
            "overshared_payload_blocked, answer_blocked, postcondition_failed");
}

TEST(Obligation7, WhatHoldsEverythingIsAllowed) {
  const Example example;
  const PolicyVerdict verdict = example.check();
  EXPECT_EQ(verdict.kind, VerdictKind::allow) << verdict.witness;
  EXPECT_EQ(verdict.token, PolicyToken::none);
  EXPECT_EQ(verdict.witness, "");
  EXPECT_FALSE(verdict.projected);
  EXPECT_TRUE(verdict.mayRun());
}

TEST(Obligation7, AVerdictThatNobodyMadeDenies) {
  EXPECT_FALSE(PolicyVerdict{}.mayRun());
  expectDenied(PolicyVerdict{}, PolicyToken::out_of_scope, "not judged");
}

TEST(Obligation7, WithoutAPolicyEverythingIsBlocked) {
  Example example;
  example.monitor = Monitor{};
  expectDenied(example.check(), PolicyToken::out_of_scope, "no policy is in force");
  EXPECT_EQ(example.monitor.allowlist("cloud-llm", "summarise"), nullptr);
}

TEST(Obligation7, AnEmptyPolicyBlocksEverything) {
  Example example;
  example.monitor = Monitor::compile({"empty", 1, {}, {}}).value();
  expectDenied(example.check(), PolicyToken::out_of_scope, "has no grant");
}

// Every gate with everything that closes it; nothing else of the request is wrong.
TEST(Obligation7, WhateverIsUnknownIsOutOfScope) {
  const auto denied = [](const std::string& words, const std::function<void(Example&)>& change) {
    Example example;
    change(example);
    expectDenied(example.check(), PolicyToken::out_of_scope, words);
  };
  denied("has no grant", [](Example& e) { e.request.agent = "stranger"; });
  denied("has no grant", [](Example& e) { e.request.agent = ""; });
  denied("has no grant", [](Example& e) { e.request.agent = "Journal-summariser"; });
  denied("has no grant", [](Example& e) { e.request.category = "finance"; });
  denied("has no grant", [](Example& e) { e.request.category = "calendar"; });  // another agent's
  denied("unknown boundary", [](Example& e) { e.request.boundary = "pastebin"; });
  denied("unknown boundary", [](Example& e) { e.request.boundary = ""; });
  denied("unknown boundary", [](Example& e) { e.request.boundary = "cloud-llm "; });
  denied("no operation", [](Example& e) { e.request.operation = "train"; });
  denied("no operation", [](Example& e) { e.request.operation = ""; });
  denied("no operation", [](Example& e) { e.request.operation = "chat"; });  // another boundary's
  denied("may not call tool", [](Example& e) { e.request.tool = "shell"; });
  denied("may not call tool", [](Example& e) { e.request.tool = ""; });
  denied("may not call tool", [](Example& e) { e.request.tool = "laboratory.order"; });  // another agent's
  denied("may not touch scope", [](Example& e) {
    e.scopes.push_back("journal:order");
    e.request.scopes = e.scopes;
  });
  denied("may not cross", [](Example& e) {
    e.request.boundary = "laboratory";
    e.request.operation = "order";
  });
  denied("holds no capabilities", [](Example& e) { e.request.held = nullptr; });
}

// 004, Law 5 (least privilege): the policy's grant is not enough, the episode must hold it.
TEST(Law5LeastPrivilege, WhatTheEpisodeDoesNotHoldIsDenied) {
  const auto denied = [](const std::string& words, std::vector<std::string> PolicyScope::*list) {
    Example example;
    (example.held.*list).clear();
    expectDenied(example.check(), PolicyToken::out_of_scope, words);
  };
  denied("does not hold tool", &PolicyScope::tools);
  denied("does not hold boundary", &PolicyScope::boundaries);
  denied("does not hold scope", &PolicyScope::scopes);
  denied("beyond the episode's own", &PolicyScope::locales);
}

TEST(Law5LeastPrivilege, WhatTheEpisodeHoldsIsNotEnoughWithoutAGrant) {
  Example example;
  example.held.tools.push_back("shell");
  example.request.tool = "shell";
  expectDenied(example.check(), PolicyToken::out_of_scope, "may not call tool");
}

// 004, Law 4: operations that violate the locale are denied at call time.
TEST(Law4LocaleNarrowing, ABoundaryElsewhereIsDenied) {
  Example example;
  example.held.locales = {"device"};
  expectDenied(example.check(), PolicyToken::out_of_scope, "\"eu\", beyond the episode's own");
  Example grant;
  grant.policy.grant[0].locales = {"device"};
  grant.recompile();
  grant.confirmNow();
  expectDenied(grant.check(), PolicyToken::out_of_scope, "\"eu\", where data");
}

// All of a boundary's places, not one of them.
TEST(Law4LocaleNarrowing, EveryPlaceOfABoundaryCounts) {
  Example example;
  example.policy.boundary[1].locales = {"eu", "us"};
  example.recompile();
  example.confirmNow();
  expectDenied(example.check(), PolicyToken::out_of_scope, "\"us\"");
}

TEST(Obligation7, AModelThatIsNotGrantedIsDisallowed) {
  const auto denied = [](const std::string& words, const std::function<void(Example&)>& change) {
    Example example;
    change(example);
    example.confirmNow();  // a confirmation does not help
    expectDenied(example.check(), PolicyToken::disallowed_provider_model, words);
  };
  denied("may not ask model", [](Example& e) { e.model.model = "large-3"; });
  denied("may not ask model", [](Example& e) { e.model.model = "Large-2"; });
  denied("may not ask model", [](Example& e) { e.model.provider = "cloud.example.org"; });
  denied("may not ask model", [](Example& e) { e.model = {"local", "large-2"}; });  // each known, not together
  denied("names none", [](Example& e) { e.request.model = nullptr; });
}

// Whether a model is asked says the policy: leaving the model away is no way around its checks.
TEST(Obligation7, AModelWhereNoneIsAskedIsDisallowed) {
  OrderExample example;
  example.request.model = &example.model;
  expectDenied(example.check(), PolicyToken::disallowed_provider_model, "not for asking models");
}

TEST(Obligation7, WithoutAConfirmationNothingIsAsked) {
  const auto denied = [](const std::function<void(PrivacyReceipt&)>& change) {
    Example example;
    PrivacyReceipt receipt = confirm(example.policy, example.request.agent, &example.model, "cloud-llm", "anna", 1);
    change(receipt);
    example.receipts = {};
    ASSERT_TRUE(example.receipts.add(receipt).ok());
    expectDenied(example.check(), PolicyToken::privacy_confirmation_required, "nobody has confirmed");
  };
  denied([](PrivacyReceipt& r) { r.agentId = "udt-lab"; });
  denied([](PrivacyReceipt& r) { r.provider = "local"; });
  denied([](PrivacyReceipt& r) { r.model = "llama-3.1-8b"; });
  denied([](PrivacyReceipt& r) { r.boundary = "local-llm"; });
  denied([](PrivacyReceipt& r) { r.policyName = "clinic-2"; });
  denied([](PrivacyReceipt& r) { r.policyVersion = 2; });
  denied([](PrivacyReceipt& r) { r.policyVersion = 4; });
  denied([](PrivacyReceipt& r) { r.policyDigest[0] ^= 1; });  // version 3 said something else
  denied([](PrivacyReceipt& r) { r.provider.clear(), r.model.clear(); });
  Example none;
  none.receipts = {};
  expectDenied(none.check(), PolicyToken::privacy_confirmation_required, "version 3 of policy \"clinic\"");
}

// "valid privacy confirmation receipt exists for current policy version": 9.2.
TEST(Obligation7, AReceiptForVersion3DoesNotCountFor4) {
  Example example;
  EXPECT_TRUE(example.check().mayRun());
  example.policy.version = 4;
  example.recompile();
  expectDenied(example.check(), PolicyToken::privacy_confirmation_required, "only under another");
  example.confirmNow();
  EXPECT_TRUE(example.check().mayRun());
}

TEST(Obligation7, AConfirmationMayBeNeededWithoutAModel) {
  OrderExample example;
  EXPECT_EQ(example.check().kind, VerdictKind::requireHuman);
  example.receipts = {};
  expectDenied(example.check(), PolicyToken::privacy_confirmation_required, "nobody has confirmed");
}

TEST(Obligation7, WithoutItsSecretNothingRuns) {
  const auto denied = [](const std::string& words, const std::function<void(Example&)>& change) {
    Example example;
    change(example);
    expectDenied(example.check(), PolicyToken::secret_unavailable, words);
  };
  denied("the secure store has no secret", [](Example& e) { e.secrets.erase("cloud-llm-key"); });
  denied("the secure store has no secret", [](Example& e) { e.secrets.clear(); });
  denied("names none", [](Example& e) { e.request.secret = ""; });
  // There, and not for this boundary: no agent carries one secret to where another belongs.
  denied("may not use the secret", [](Example& e) { e.request.secret = "laboratory-token"; });
  denied("may not use the secret", [](Example& e) { e.request.secret = "cloud-llm-key2"; });
}

TEST(Obligation7, WhereNoSecretIsNeededNoneIsGiven) {
  Example example;
  example.request.tool = "journal.append";
  example.request.boundary = "journal";
  example.request.operation = "append";
  example.request.model = nullptr;
  example.payload = parseJson(R"({"text":"hello"})").value();
  expectDenied(example.check(), PolicyToken::secret_unavailable, "may not use the secret");
  example.request.secret = "";
  EXPECT_EQ(example.check().kind, VerdictKind::allow);
}

TEST(Obligation7, AFieldTooManyIsBlocked) {
  OrderExample example;
  example.payload.as_object()["patient"] = "David";
  expectDenied(example.check(), PolicyToken::overshared_payload_blocked, "operation \"order\": patient");
  EXPECT_EQ(example.check().witness.find("David"), std::string::npos) << "names of fields, no values";
  // Also where nothing is allowed.
  for (Boundary& boundary : example.policy.boundary)
    for (OperationRule& rule : boundary.operation) rule.allow.clear(), rule.mask.clear();
  example.recompile();
  example.receipts = {};
  example.confirmNow();
  example.payload = parseJson(R"({"order":"O1","by":{"name":"ann"}})").value();
  expectDenied(example.check(), PolicyToken::overshared_payload_blocked, "operation \"order\": by, order");
}

TEST(Obligation7, WhereThePolicySaysSoTheRestGoes) {
  Example example;
  example.payload.as_object()["patient"].as_object()["name"] = "David";
  example.payload.as_object()["patient"].as_object()["initials"] = "D. B.";
  const PolicyVerdict verdict = example.check();
  EXPECT_EQ(verdict.kind, VerdictKind::redact);
  EXPECT_EQ(verdict.token, PolicyToken::none);
  EXPECT_EQ(verdict.witness, "left out: patient.name; masked: patient.initials");
  ASSERT_TRUE(verdict.projected);
  EXPECT_EQ(
      canonicalJson(*verdict.projected),
      R"({"patient":{"birthYear":1971,"initials":"[redacted]"},"visit":{"notes":["slept well"],"on":"2026-03-23"}})");
  example.payload = *verdict.projected;
  EXPECT_EQ(example.check().kind, VerdictKind::allow) << "what was projected passes";
}

TEST(Obligation7, NoPayloadIsNothingToBlock) {
  Example example;
  example.request.payload = nullptr;
  EXPECT_EQ(example.check().kind, VerdictKind::allow);
}

// ---- Flow D: the first gate that fails decides ----

struct Gate {
  PolicyToken token;
  std::function<void(Example&)> close;
};

const std::vector<Gate>& gates() {
  static const std::vector<Gate> all = {
      {PolicyToken::out_of_scope, [](Example& e) { e.request.tool = "shell"; }},
      {PolicyToken::disallowed_provider_model, [](Example& e) { e.model.model = "large-3"; }},
      {PolicyToken::privacy_confirmation_required, [](Example& e) { e.receipts = {}; }},
      {PolicyToken::secret_unavailable, [](Example& e) { e.secrets.clear(); }},
      {PolicyToken::overshared_payload_blocked, [](Example& e) { e.payload.as_object()["ssn"] = "123"; }},
  };
  return all;
}

// allow(req) is the conjunction, for each of the 32 ways in which the five can hold or fail.
TEST(Obligation7, TheFirstGateThatFailsDecidesInEveryCombination) {
  for (unsigned closed = 0; closed < 32; ++closed) {
    Example example;
    example.policy.boundary[1].operation[0].excess = Excess::block;
    example.recompile();
    example.confirmNow();
    PolicyToken first = PolicyToken::none;
    for (std::size_t i = gates().size(); i-- > 0;) {
      if ((closed >> i & 1) == 0) continue;
      gates()[i].close(example);
      first = gates()[i].token;
    }
    const PolicyVerdict verdict = example.check();
    EXPECT_EQ(enumName(verdict.token), enumName(first)) << closed;
    EXPECT_EQ(verdict.mayRun(), closed == 0) << closed;
  }
}

TEST(Obligation7, TheSameRequestHasTheSameVerdict) {
  for (const Gate& gate : gates()) {
    Example example;
    gate.close(example);
    const PolicyVerdict one = example.check(), two = example.check();
    EXPECT_EQ(one.kind, two.kind);
    EXPECT_EQ(one.token, two.token);
    EXPECT_EQ(one.witness, two.witness);
    EXPECT_EQ(one.projected, two.projected);
  }
}

// Words that nobody chose with care: no verdict but a denial, and never a crash.
RC_GTEST_PROP(Obligation7, AnyWordsAreAnsweredAndUnknownOnesDenied, ()) {
  Example example;
  const std::string word = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const auto field = *rc::gen::inRange(0, 6);
  std::string_view PolicyRequest::*fields[] = {&PolicyRequest::agent,     &PolicyRequest::category,
                                               &PolicyRequest::tool,      &PolicyRequest::boundary,
                                               &PolicyRequest::operation, &PolicyRequest::secret};
  example.request.*fields[field] = word;
  const PolicyVerdict verdict = example.check();
  RC_ASSERT(!verdict.mayRun());
  RC_ASSERT(verdict.token == (field == 5 ? PolicyToken::secret_unavailable : PolicyToken::out_of_scope));
  for (const char c : verdict.witness) RC_ASSERT(c >= ' ' && c <= '~');
}

// ---- require-human ----

TEST(RequireHuman, WaitsForAPersonWhoSeesWhatWouldCross) {
  OrderExample example;
  const PolicyVerdict verdict = example.check();
  EXPECT_EQ(verdict.kind, VerdictKind::requireHuman);
  EXPECT_EQ(verdict.token, PolicyToken::none);
  EXPECT_FALSE(verdict.mayRun());
  ASSERT_TRUE(verdict.digest);
  example.request.approved = &*verdict.digest;
  EXPECT_EQ(example.check().kind, VerdictKind::allow);
}

TEST(RequireHuman, NobodyIsAskedAboutWhatIsForbidden) {
  OrderExample example;
  example.secrets.clear();
  expectDenied(example.check(), PolicyToken::secret_unavailable, "has no secret");
}

// Approval of a changed proposal is refused.
TEST(RequireHuman, AnApprovalOfSomethingElseDoesNotCount) {
  const auto asksAgain = [](const std::function<void(OrderExample&)>& change) {
    OrderExample example;
    const Hash approved = *example.check().digest;
    change(example);
    example.request.approved = &approved;
    const PolicyVerdict verdict = example.check();
    EXPECT_EQ(verdict.kind, VerdictKind::requireHuman) << verdict.witness;
    EXPECT_NE(verdict.witness.find("something else"), std::string::npos);
    EXPECT_NE(*verdict.digest, approved);
  };
  asksAgain([](OrderExample& e) { e.payload.as_object()["order"].as_object()["id"] = "O2"; });
  asksAgain([](OrderExample& e) { e.payload.as_object()["order"].as_object().erase("code"); });
  asksAgain([](OrderExample& e) { e.request.payload = nullptr; });
  asksAgain([](OrderExample& e) { e.request.operationId = "op-2"; });
  asksAgain([](OrderExample& e) { e.request.scopes = {}; });
  asksAgain([](OrderExample& e) {
    e.policy.version = 4;
    e.recompile();
    e.confirmNow();
  });
}

TEST(RequireHuman, AnApprovalOpensNoOtherGate) {
  OrderExample example;
  const Hash approved = *example.check().digest;
  example.request.approved = &approved;
  example.receipts = {};
  expectDenied(example.check(), PolicyToken::privacy_confirmation_required, "nobody");
}

// The person approves the projection, and that is what may go.
TEST(RequireHuman, IsBoundToTheProjection) {
  OrderExample example;
  example.policy.boundary[3].operation[0].excess = Excess::redact;
  example.recompile();
  example.confirmNow();
  example.payload.as_object()["patient"] = "David";
  PolicyVerdict verdict = example.check();
  EXPECT_EQ(verdict.kind, VerdictKind::requireHuman);
  ASSERT_TRUE(verdict.projected && verdict.digest);
  EXPECT_FALSE(verdict.projected->as_object().contains("patient"));
  example.request.approved = &*verdict.digest;
  EXPECT_EQ(example.check().kind, VerdictKind::redact);
  example.payload.as_object()["patient"] = "Anna";  // it does not cross
  EXPECT_EQ(example.check().kind, VerdictKind::redact);
}

}  // namespace
}  // namespace witan::agents::monitor_test
