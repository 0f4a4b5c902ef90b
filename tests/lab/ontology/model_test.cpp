// From a graph to a model: what may be left out, and what is refused, with the place.
#include "lab/ontology/model.h"

#include <gtest/gtest.h>

#include "lab/ontology/ontology.h"
#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::model_test {
namespace {

using namespace test;

using Words = std::vector<std::string>;

// After the head of five lines.
Words errorsIn(const std::string& text) { return messagesOf(kHead + text); }

std::string allOf(const Words& words) {
  std::string all;
  for (const std::string& w : words) all += w + "\n";
  return all;
}

Words warningsIn(const std::string& text) {
  Diagnostics found;
  const auto model = readOntology(kHead + text, found);
  WITAN_CHECK(model.has_value(), found.asError("t").message);
  review(*model, found);
  Words words;
  for (const Diagnostic& d : found.sorted()) words.push_back(toText("t", d));
  return words;
}

bool has(const Words& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(), [&](const auto& w) { return w.find(part) != std::string::npos; });
}

const std::string kSmall = "d:f a ar:Field ; ar:name \"f\" .\n" + processText("p", {"f"}, {"f"});

TEST(OntologyModel, NamesDefaultToTheEndOfTheIri) {
  const Model m =
      modelOf(kHead + "d:f_x a ar:Field . d:p_Do a ar:Process ; ar:reads d:f_x . <urn:a/b#i_RULE> a ar:Invariant .");
  EXPECT_EQ(m.fields.at(0).name, "x");
  EXPECT_EQ(m.processes.at(0).name, "Do");
  EXPECT_EQ(m.invariants.at(0).name, "RULE");
}

TEST(OntologyModel, FieldsStandByNameWhateverTheirIris) {
  const Model m = modelOf(kHead + "d:z a ar:Field ; ar:name \"a\" . d:a a ar:Field ; ar:name \"z\" .");
  EXPECT_EQ(m.fields.at(0).name, "a");
}

TEST(OntologyModel, InvariantsStandInListOrder) {
  const Model m =
      modelOf(kHead +
              "d:i1 a ar:Invariant ; ar:id \"B\" ; ar:order 2 . d:i2 a ar:Invariant ; ar:id \"A\" ; ar:order 10 . "
              "d:i3 a ar:Invariant ; ar:id \"0\" . d:i4 a ar:Invariant ; ar:id \"C\" ; ar:order -1 .");
  Words ids;
  for (const Invariant& i : m.invariants) ids.push_back(i.name);
  EXPECT_EQ(ids, (Words{"C", "B", "A", "0"}));
}

TEST(OntologyModel, LifecycleAndPublicFieldsMayBePlainFieldsToo) {
  const Model m = modelOf(kHead + "d:x a ar:Field , ar:LifecycleField . d:y a ar:PublicField , ar:Field .");
  EXPECT_EQ(m.fields.at(0).kind, FieldKind::lifecycle);
  EXPECT_EQ(m.fields.at(1).kind, FieldKind::open);
}

TEST(OntologyErrors, UnknownFieldsAndProcesses) {
  EXPECT_EQ(errorsIn("d:p a ar:Process ;\n  ar:reads d:g ."),
            Words{"t:7:12: error: p ar:reads <urn:d:g>, which is no declared field"});
  EXPECT_TRUE(
      has(errorsIn("d:i a ar:Invariant ; ar:refersTo d:g ."), "i ar:refersTo <urn:d:g>, which is no declared field"));
  EXPECT_TRUE(has(errorsIn("d:i a ar:Invariant ; ar:refersTo \"f\" ."), "\"f\", which is no declared field"));
  EXPECT_TRUE(has(errorsIn("d:i a ar:Invariant ; ar:gates d:q ."), "<urn:d:q>, which is no declared process"));
  EXPECT_TRUE(has(errorsIn("d:r a ar:Role ; ar:performs d:q ."), "<urn:d:q>, which is no declared process"));
  EXPECT_TRUE(has(errorsIn("d:p a ar:Process ; ar:performedBy d:q ."), "which is neither ar:Counselor nor an ar:Role"));
}

TEST(OntologyErrors, Contradictions) {
  EXPECT_EQ(errorsIn("d:x a ar:Field .\nd:x a ar:Process ."),
            Words{"t:7:7: error: <urn:d:x> is both an ar:Field and an ar:Process"});
  EXPECT_TRUE(
      has(errorsIn("d:x a ar:LifecycleField , ar:PublicField ."), "both an ar:LifecycleField and an ar:PublicField"));
  EXPECT_TRUE(has(errorsIn("d:x a ar:Field ; ar:name \"a\" , \"b\" ."), "name is given twice: \"a\" and \"b\""));
  EXPECT_TRUE(has(errorsIn("d:x a ar:Field ; ar:name d:y ."), "name must be a literal, not <urn:d:y>"));
  EXPECT_TRUE(
      has(errorsIn("d:x a ar:Field ; ar:name \"n\" . d:y a ar:Field ; ar:name \"n\" ."), "two fields are called n"));
  EXPECT_TRUE(has(errorsIn("d:a a ar:Process ; ar:name \"n\" . d:b a ar:Process ; ar:name \"n\" ."),
                  "two processes are called n"));
  EXPECT_TRUE(has(errorsIn("d:a a ar:Invariant ; ar:id \"n\" . d:b a ar:Invariant ; ar:id \"n\" ."),
                  "two invariants are called n"));
  EXPECT_TRUE(has(errorsIn("d:a a ar:Invariant ; ar:order 3 . d:b a ar:Invariant ; ar:order 3 ."),
                  "a and b both have ar:order 3"));
  EXPECT_TRUE(has(errorsIn("d:e a ar:Domain ."), "two domains are declared"));
  EXPECT_TRUE(has(errorsIn("d:p a ar:Process . d:r a ar:Role ; ar:performs d:p . d:q a ar:Role ; ar:performs d:p ."),
                  "p is performed by two roles, q and r"));
  EXPECT_TRUE(has(errorsIn("d:p a ar:Process ; ar:performedBy ar:Counselor . d:r a ar:Role ; ar:performs d:p ."),
                  "p is performed by a counselor and by role r"));
  EXPECT_TRUE(has(errorsIn("@prefix owl: <http://www.w3.org/2002/07/owl#> . d:A owl:disjointWith d:B . "
                           "d:A2 rdfs:subClassOf d:A . d:x a d:A2 , d:B ."),
                  "<urn:d:x> is <urn:d:A> and <urn:d:B>, which are disjoint"));
}

TEST(OntologyErrors, Cycles) {
  EXPECT_EQ(errorsIn("d:a rdfs:subClassOf d:b .\nd:b rdfs:subClassOf d:e .\nd:e rdfs:subClassOf d:a ."),
            Words{"t:8:21: error: a cycle of rdfs:subClassOf: <urn:d:a> -> <urn:d:b> -> <urn:d:e> -> <urn:d:a>"});
  EXPECT_TRUE(has(errorsIn("d:f a ar:Field ; ar:dependsOn d:f ."), "a cycle of ar:dependsOn: <urn:d:f> -> <urn:d:f>"));
  EXPECT_TRUE(has(errorsIn("d:p bfo:BFO_0000063 d:q . d:q bfo:BFO_0000063 d:p ."), "a cycle of bfo:precedes"));
  // A diamond is none; and a long chain is walked without recursion.
  EXPECT_TRUE(errorsIn("d:a rdfs:subClassOf d:b , d:e . d:b rdfs:subClassOf d:f . d:e rdfs:subClassOf d:f .").empty());
  std::string chain;
  for (int i = 0; i < 50'000; ++i)
    chain += "d:n" + std::to_string(i) + " rdfs:subClassOf d:n" + std::to_string(i + 1) + " .\n";
  EXPECT_TRUE(errorsIn(chain).empty());
  EXPECT_TRUE(has(errorsIn(chain + "d:n50000 rdfs:subClassOf d:n0 ."), "-> ... -> "));
}

TEST(OntologyErrors, WordsInTheWrongPlace) {
  EXPECT_EQ(errorsIn("d:f a ar:Field . d:p ar:reads d:f ."),
            Words{"t:6:18: error: <urn:d:p> has ar:reads, but is no ar:Process"});
  EXPECT_TRUE(has(errorsIn("d:i a ar:Invariant ; ar:onFailure \"explode\" ."),
                  "\"explode\" is none of: reject, escalate, mixed"));
  EXPECT_TRUE(has(errorsIn("d:i a ar:Invariant ; ar:order \"first\" ."),
                  "ar:order must be an integer of 64 bits, not \"first\""));
  EXPECT_TRUE(has(errorsIn("d:i a ar:Invariant ; ar:order 99999999999999999999 ."), "must be an integer of 64 bits"));
  EXPECT_TRUE(has(errorsIn("[] a ar:Process ."), "an ar:Process without an IRI (a blank node)"));
  EXPECT_TRUE(has(errorsIn("d:x a ar:Field ; ar:name \"\" ."), "a name is 1 to 128 bytes"));
  EXPECT_TRUE(has(errorsIn("d:x a ar:Field ; ar:name \"a\\nb\" ."), "without control characters, not \"a\\x0ab\""));
  EXPECT_TRUE(has(errorsIn("<urn:d:> a ar:Field ."), "its IRI ends in no name"));
  EXPECT_TRUE(has(messagesOf("<urn:a> <urn:b> <urn:c> ."),
                  "no ar:Domain is declared (ar: is https://example.org/agentic-redux/ns#)"));
}

TEST(OntologyErrors, TooManyOfAKind) {
  std::string text;
  for (int i = 0; i <= 1'000; ++i) text += "d:p" + std::to_string(i) + " a ar:Process .\n";
  EXPECT_EQ(errorsIn(text), Words{"t: error: 1001 of ar:Process; the most is 1000"});
}

TEST(OntologyWarnings, EveryOneFires) {
  EXPECT_EQ(allOf(warningsIn(kSmall)), "");
  EXPECT_TRUE(has(warningsIn(kSmall + "d:g a ar:Field ."), "field g is written by no process"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:g a ar:Field ."), "field g is read by no process and no invariant"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:q a ar:Process ; ar:writes d:f ."), "process q has no participant"));
  EXPECT_TRUE(has(warningsIn(kSmall + processText("q", {}, {})), "process q has no footprint"));
  EXPECT_TRUE(has(warningsIn(kSmall + processText("q", {"f"}, {})), "process q writes nothing"));
  EXPECT_TRUE(has(warningsIn(kSmall + fieldText("life") + processText("q", {"life"}, {"life"})),
                  "q touches only the life cycle"));
  EXPECT_TRUE(has(warningsIn(kSmall + fieldText("clock") + processText("q", {"f"}, {"f", "clock"})),
                  "process q writes clock: no proposal writes a public field"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:r a ar:Role ."), "role r performs no process"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:r a ar:Role ."), "process p is performed by no declared role"));
  EXPECT_TRUE(has(
      warningsIn(kSmall + fieldText("g") + processText("q", {"g"}, {"g"}) + "d:r a ar:Role ; ar:performs d:p , d:q ."),
      "Procedure 1 derives no role with just the processes of r"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:i a ar:Invariant ; ar:order 1 ."), "invariant i has no footprint"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:i a ar:Invariant ; ar:refersTo d:f ."), "invariant i has no ar:order"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:i a ar:Invariant ; ar:order 1 ; ar:refersTo d:f ; ar:onFailure \"escalate\" . "
                                      "d:j a ar:Invariant ; ar:order 2 ; ar:refersTo d:f ."),
                  "invariant j rejects but stands after i"));
  EXPECT_TRUE(
      has(warningsIn(kSmall + "d:i a ar:Invariant ; ar:order 1 ; ar:refersTo d:f ; ar:source ar:Precondition ."),
          "precondition i gates no process"));
  EXPECT_TRUE(
      has(warningsIn(kSmall + fieldText("g") + processText("q", {"g"}, {"g"}) +
                     "d:i a ar:Invariant ; ar:order 1 ; ar:refersTo d:f ; ar:source ar:Precondition ; ar:gates d:q ."),
          "precondition i refers to nothing that q, which it gates, reads or writes"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:x ar:wirtes d:f ."), "ar:wirtes is no property of this vocabulary"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:x a ar:Feild ."), "ar:Feild is no class of this vocabulary"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:f ar:bfoCategory bfo:BFO_0000015 ."), "field f is an occurrent"));
  EXPECT_TRUE(has(warningsIn(kSmall + "d:f ar:bfoCategory bfo:BFO_0000023 ."),
                  "f is a role of the continuant, but no ar:LifecycleField"));
}

}  // namespace
}  // namespace witan::ontology::model_test
