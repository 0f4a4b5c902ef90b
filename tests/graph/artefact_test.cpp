// Artefacts: what the admin signed, and nothing else, counts.
#include "kernel/graph/artefact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace witan::graph::artefact_test {
namespace {

using ::testing::HasSubstr;

SigningKey key(char seed) { return SigningKey::fromSeed(std::string(32, seed)).value(); }

Artefact triage() {
  Artefact made{ArtefactKind::agent, "triage", "3", std::string(64, 'a'), {}};
  made.validation = {"triage-suite", ValidationResult::pass, std::string(64, 'b'), {1'774'000'000}};
  return made;
}

json::object envelopeOf(const Artefact& artefact, char signer = 'k') {
  return parseJson(sealedArtefact(artefact, key(signer)))->as_object();
}
std::string whyNot(const json::value& envelope) {
  const auto opened = openArtefact(canonicalJson(envelope), key('k').publicKey());
  return opened.ok() ? "" : opened.error().message;
}

// What other programs check: DSSE v1 over an in-toto Statement v1.
TEST(Artefacts, AreStatementsOfInToto) {
  const json::object envelope = envelopeOf(triage());
  EXPECT_EQ(envelope.at("payloadType").as_string(), "application/vnd.in-toto+json");
  EXPECT_EQ(fromBase64(std::string_view(envelope.at("payload").as_string())).value(),
            R"({"_type":"https://in-toto.io/Statement/v1","predicate":{"id":"triage","kind":"agent","validation":)"
            R"({"at":"2026-03-20T09:46:40Z","report":")" +
                std::string(64, 'b') +
                R"(","result":"pass","suite":"triage-suite"},"version":"3"},"predicateType":"urn:witan:validation:v1",)"
                R"("subject":[{"digest":{"sha256":")" +
                std::string(64, 'a') + R"("},"name":"agent:triage:3"}]})");
  const auto opened = openArtefact(canonicalJson(envelope), key('k').publicKey());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->key(), "agent:triage:3");
  EXPECT_EQ(opened->digest, triage().digest);
  EXPECT_EQ(opened->validation.report, triage().validation.report);
}

TEST(Artefacts, OfAnotherSignerOrFormCountForNothing) {
  EXPECT_THAT(whyNot(envelopeOf(triage(), 'x')), HasSubstr("not signed by the cluster's admin key"));
  const auto altered = [&](std::string_view from, std::string_view to) {
    json::object envelope = envelopeOf(triage());
    std::string payload = fromBase64(std::string_view(envelope.at("payload").as_string())).value();
    const std::size_t at = payload.find(from);
    payload.replace(at, from.size(), to);
    envelope["payload"] = toBase64(payload);
    return whyNot(envelope);
  };
  EXPECT_THAT(altered("pass", "fail"), HasSubstr("not signed"));
  EXPECT_THAT(altered("agent:triage:3", "agent:triage:4"), HasSubstr("payload.subject"));
  EXPECT_THAT(altered("urn:witan:validation:v1", "urn:witan:evidence:v1"),
              HasSubstr("must be \"urn:witan:validation:v1\""));
  EXPECT_THAT(altered("\"kind\":\"agent\"", "\"kind\":\"person\""), HasSubstr("payload.predicate.kind"));
  json::object envelope = envelopeOf(triage());
  envelope["payloadType"] = "text/plain";
  EXPECT_THAT(whyNot(envelope), HasSubstr("envelope.payloadType"));
}

}  // namespace
}  // namespace witan::graph::artefact_test
