// Evidence bundles: the vectors of the specification, completeness, bounds, and equivocation.
#include <gtest/gtest.h>

#include "kernel/market/equivocation.h"
#include "market/testing/market_toy.h"
#include "tests/market/vectors.h"

namespace witan::market {
namespace {

class Bundles : public ::testing::Test {
 protected:
  std::string verdict(const json::value& bundle) const { return verifyBundle(bundle, toy_.roots()).id; }
  static json::value envelopeOf(const std::string& text) { return parseJson(text).value(); }

  MarketToy toy_;
};

TEST(BundleVectors, EachIsJudgedAsTheSpecificationSays) {
  const auto vectors = tests::vectorsOf("bundles.jsonl");
  EXPECT_EQ(vectors.size(), 38u);
  std::set<std::string> seen;
  for (const json::object& vector : vectors) {
    const Verification found = verifyBundle(vector.at("bundle"), tests::rootsOf(vector.at("roots").as_object()));
    EXPECT_EQ(found.id, std::string_view(vector.at("expect").as_string()))
        << vector.at("name") << ": " << found.message;
    EXPECT_EQ(found.message.empty(), found.ok()) << vector.at("name");
    seen.insert(found.id);
  }
  EXPECT_GE(seen.size(), 16u);
}

TEST_F(Bundles, ValidOnesVerifyWithAnyNumberOfRecords) {
  for (const std::size_t looks : {0, 1, 50, 1'000})
    EXPECT_EQ(verifyBundle(toy_.bundle(looks), toy_.roots()).message, "") << looks;
  json::object withheld = toy_.bundle();
  withheld["output"] = nullptr;
  withheld["disclosures"] = json::array();
  EXPECT_EQ(verdict(withheld), "");
}

// Each member of the bundle, of its documents' envelopes, of each record: left out or altered, it is found out.
TEST_F(Bundles, NothingCanBeLeftOutOrAltered) {
  const json::object whole = toy_.bundle(3);
  for (const auto& [member, value] : whole) {
    json::object lacking = whole;
    lacking.erase(member);
    EXPECT_EQ(verdict(lacking), "EB01") << member;
  }
  for (const char* document : {"offer", "contract", "order", "evidence"})
    for (const char* member : {"payload", "payloadType"}) {
      json::object altered = whole;
      json::string& text = altered.at(document).as_object().at(member).as_string();
      text[text.size() / 2] = text[text.size() / 2] == 'A' ? 'B' : 'A';
      EXPECT_NE(verdict(altered), "") << document << " " << member;
    }
  json::object unknown = whole;
  unknown["more"] = 1;
  EXPECT_EQ(verdict(unknown), "EB01");
  json::object fraction = whole;
  fraction["output"] = 1.5;
  EXPECT_EQ(verdict(fraction), "EB01");
}

TEST_F(Bundles, HostileDocumentsAreRefusedBeforeAnySignature) {
  json::object many = toy_.bundle();
  json::array& signatures = many.at("order").as_object().at("signatures").as_array();
  while (signatures.size() <= kMostSignatures) signatures.push_back(json::value(signatures.front()));
  EXPECT_EQ(verdict(many), "EB01");
  json::object grants = toy_.bundle();
  while (grants.at("grants").as_array().size() <= kMostGrants)
    grants.at("grants").as_array().push_back(json::value(grants.at("grants").at(0)));
  EXPECT_EQ(verdict(grants), "EB01");
  json::object large = toy_.bundle();
  large.at("order").as_object()["payload"] = std::string(kMostEnvelopeBytes + 4, 'A');
  EXPECT_EQ(verdict(large), "EB01");
  EXPECT_EQ(verifyBundleText("{\"a\":1,\"a\":2}", {}).id, "EB01");
  EXPECT_EQ(verifyBundleText(std::string(100, '['), {}).id, "EB01");
  EXPECT_EQ(verifyBundle(json::value(7), {}).id, "EB01");
}

// A payload in another spelling is another document, whoever signed it.
TEST_F(Bundles, PayloadsAreCanonical) {
  const std::string text = toJson(toy_.order("C1"));
  const auto verdictOn = [&](const std::string& payload) {
    json::object bundle = toy_.bundle();
    bundle["order"] = envelopeOf(sealed(Order::payloadType, payload, {&toy_.clinic, 1}));
    return verdict(bundle);
  };
  EXPECT_EQ(verdictOn(text), "");
  EXPECT_EQ(verdictOn(text + " "), "EB01");
  EXPECT_EQ(verdictOn("{" + text.substr(1, text.size() - 2) + ",\"zz\":1}"), "EB01");
  for (const auto& [from, to] :
       std::initializer_list<std::pair<std::string, std::string>>{{"\"amount\":300", "\"amount\":300.0"},
                                                                  {"\"amount\":300", "\"amount\":-1"},
                                                                  {"\"amount\":300", "\"amount\":9223372036854775808"},
                                                                  {"10:00:00Z", "10:00:00.5Z"},
                                                                  {"10:00:00Z", "10:00:00+00:00"},
                                                                  {"10:00:00Z", "10:00:60Z"},
                                                                  {"[\"eu\"]", "[\"eu\",\"eu\"]"},
                                                                  {"[\"eu\"]", "[\"eu\",\"ch\"]"},
                                                                  {"\"call\":\"C1\"", "\"call\":\"\""}}) {
    std::string altered = text;
    const std::size_t at = altered.find(from);
    ASSERT_NE(at, altered.npos) << from;
    altered.replace(at, from.size(), to);
    EXPECT_EQ(verdictOn(altered), "EB01") << to;
  }
}

class Equivocations : public Bundles {
 protected:
  static std::string whatOf(const std::string& a, const std::string& b, const std::vector<std::string>& keys = {}) {
    const auto found = findEquivocation(a, b, keys);
    return found.ok() ? found->what : found.error().message;
  }
};

TEST_F(Equivocations, TwoContractsOfOneId) {
  MarketToy other;
  other.contract.perCall = 399;
  EXPECT_EQ(whatOf(toy_.contractEnvelope(), other.contractEnvelope()), "contract");
  EXPECT_EQ(findEquivocation(toy_.contractEnvelope(), other.contractEnvelope(), {})->keys.size(), 2u);
  EXPECT_NE(whatOf(toy_.contractEnvelope(), toy_.contractEnvelope()), "contract") << "one text is no lie";
  other.contract.id = "contract-2";
  EXPECT_NE(whatOf(toy_.contractEnvelope(), other.contractEnvelope()), "contract");
  EXPECT_NE(whatOf(toy_.contractEnvelope(), "{}"), "contract");
}

TEST_F(Equivocations, TwoStatementsOfOneOrderAndTwoHeadsOfOneSize) {
  const Order order = toy_.order("C1");
  Statement cheap = toy_.statement(order, toy_.transcript());
  cheap.predicate.charge = 1;
  const std::string whole = canonicalJson(toy_.bundle());
  EXPECT_EQ(whatOf(whole, toy_.evidenceEnvelope(cheap)), "evidence") << "the bundle's contract names the key";
  const std::string plain = toy_.evidenceEnvelope(toy_.statement(order, toy_.transcript()));
  EXPECT_NE(whatOf(plain, toy_.evidenceEnvelope(cheap)), "evidence") << "no key is taken from a statement";
  EXPECT_EQ(whatOf(plain, toy_.evidenceEnvelope(cheap), {hexOf(toy_.evidence)}), "evidence");
  const std::string forged = sealedDocument(cheap, {&toy_.stranger, 1});
  EXPECT_NE(whatOf(plain, forged, {hexOf(toy_.evidence)}), "evidence") << "one key has signed but one of them";

  const auto headOf = [&](const char* of) { return std::string(toy_.receipt(of).at("checkpoint").as_string()); };
  EXPECT_EQ(whatOf(headOf("a"), headOf("b"), {toy_.contract.seller.log}), "checkpoint");
  json::value receipted = toy_.bundle();
  receipted.as_object()["receipt"] = toy_.receipt("a");
  EXPECT_EQ(whatOf(canonicalJson(receipted), headOf("b")), "checkpoint") << "the bundle has the one head, and the key";
  EXPECT_NE(whatOf(headOf("a"), headOf("a"), {toy_.contract.seller.log}), "checkpoint");
  EXPECT_NE(whatOf(headOf("a"), headOf("b")), "checkpoint");
}

}  // namespace
}  // namespace witan::market
