// The Turtle reader: what it reads, and what it says of what it can't, with the place. Never half a graph.
#include "rdf/turtle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::turtle_test {
namespace {

using namespace test;

std::vector<std::string> read(const std::string& text, const TurtleLimits& limits = {}) {
  Diagnostics found;
  const auto graph = readTurtle(text, limits, found);
  EXPECT_NE(graph.has_value(), found.hasErrors());
  std::vector<std::string> words;
  for (const Diagnostic& d : found.sorted()) words.push_back(toText("t.ttl", d));
  return words;
}

using Words = std::vector<std::string>;

TEST(Turtle, ReadsWhatTurtleHas) {
  const Graph g = graphOf(
      "# a comment with [ ( and \"\n@base <http://e/> .\nPREFIX d: <urn:d:>\n@prefix : <rel#> .\n"
      "d:a a d:B ; d:p \"x\\ty\" , 'z'@en , \"\"\"long \"quoted\" [ text\"\"\" , 4 , true , 1.5e0 ;\n"
      "  :q ( d:a [ d:r \"5\"^^<urn:t> ] ) , <rel> .\n_:b d:p d:a\\(x .\n");
  const auto has = [&](const Term& term) { return std::find(g.terms.begin(), g.terms.end(), term) != g.terms.end(); };
  EXPECT_TRUE(has({Term::Kind::literal, "x\ty", "", ""}));
  EXPECT_TRUE(has({Term::Kind::literal, "z", "", "en"}));
  EXPECT_TRUE(has({Term::Kind::literal, "long \"quoted\" [ text", "", ""}));
  EXPECT_TRUE(has({Term::Kind::literal, "4", "http://www.w3.org/2001/XMLSchema#integer", ""}));
  EXPECT_TRUE(has({Term::Kind::literal, "5", "urn:t", ""}));
  EXPECT_TRUE(has({Term::Kind::iri, "http://e/rel#q", "", ""}));
  EXPECT_TRUE(has({Term::Kind::iri, "http://e/rel", "", ""}));
  EXPECT_TRUE(has({Term::Kind::iri, "urn:d:a(x", "", ""}));
}

TEST(Turtle, ATripleStandsOnceHoweverOftenItIsWritten) {
  EXPECT_EQ(graphOf("@prefix d: <urn:d:> . d:a d:p d:b , d:b . <urn:d:a> d:p d:b .").triples.size(), 1u);
}

TEST(Turtle, TellsWhereThingsStand) {
  const Graph g = graphOf("@prefix d: <urn:d:> .\n\nd:ä d:p d:b ;\n   d:q \"o\" .\n");
  ASSERT_EQ(g.triples.size(), 2u);
  EXPECT_EQ(g.triples[0].subjectAt, (Place{3, 1}));
  EXPECT_EQ(g.triples[0].at, (Place{3, 9}));
  EXPECT_EQ(g.triples[1].subjectAt, (Place{3, 1}));
  EXPECT_EQ(g.triples[1].at, (Place{4, 8}));
}

// serd hands a name with an undeclared prefix on without an error.
TEST(Turtle, UndeclaredPrefixesAreErrorsEachOnce) {
  EXPECT_EQ(read("@prefix d: <urn:d:> .\nd:a d:p x:b .\ny:a y:p d:b , x:c .\nd:a d:p \"1\"^^z:int ."),
            (Words{"t.ttl:2:9: error: prefix \"x\" is not declared", "t.ttl:3:1: error: prefix \"y\" is not declared",
                   "t.ttl:4:9: error: prefix \"z\" is not declared"}));
}

// It has delivered the statements before a syntax error by then: they are thrown away.
TEST(Turtle, ASyntaxErrorHalfWayLeavesNothing) {
  const Words words = read("@prefix d: <urn:d:> .\nd:a d:p d:b .\nd:a d:p ] .\nd:a d:p d:c .\n");
  ASSERT_EQ(words.size(), 1u);
  EXPECT_TRUE(words[0].starts_with("t.ttl:3:9: error: syntax: ")) << words[0];
}

TEST(Turtle, EveryKindOfBrokenTextIsAnError) {
  for (const char* text :
       {"d:a", "@prefix d: <urn:d:>", "@prefix d: <urn:d:> . d:a d:p d:b", "@prefix d: <urn:d:> . d:a d:p \"x",
        "@prefix d: <urn:d:> . d:a d:p \"x\ny\" .", "@prefix d: <urn:d:> . d:a d:p ( d:b .", "<urn:a> <urn:b <urn:c> .",
        "@prefix d: <urn:d:> . d:a \"p\" d:b .", "@prefix d: <urn:d:> . \"a\" d:p d:b .", "<a> <urn:p> <urn:o> .",
        "@prefix d: <rel#> .", "@prefix d: <urn:d:> . d:a d:p d:b ;; ] .", "@prefix d: <urn:d:> . d:a d:p d:b . }",
        "{\"json\":true}", "<?xml version=\"1.0\"?><rdf/>", "@base <rel> . <a> <b> <c> ."}) {
    const Words words = read(text);
    ASSERT_FALSE(words.empty()) << text;
    EXPECT_TRUE(words[0].starts_with("t.ttl:1:") || words[0].starts_with("t.ttl:2:")) << text << "\n" << words[0];
  }
}

TEST(Turtle, BytesThatAreNoText) {
  EXPECT_EQ(read(std::string("<urn:a> <urn:b>\n <urn:\0c> .", 28)), Words{"t.ttl:2:7: error: a NUL byte"});
  EXPECT_EQ(read("<urn:a> <urn:b> \"\xff\" ."), Words{"t.ttl:1:18: error: not UTF-8"});
  EXPECT_EQ(read("<urn:a> <urn:b> \"\xc3"), Words{"t.ttl:1:18: error: not UTF-8"});
}

// serd recurses into brackets: a million of them would end the process.
TEST(Turtle, DepthIsLimited) {
  const auto nested = [](std::size_t n, const std::string& open) {
    std::string text = "@prefix d: <urn:d:> .\nd:a d:p ";
    for (std::size_t i = 0; i < n; ++i) text += open;
    return text;
  };
  EXPECT_EQ(read(nested(500'000, "[ d:p ")), Words{"t.ttl:2:201: error: brackets nested more than 32 deep"});
  EXPECT_EQ(read(nested(1'000'000, "(")), Words{"t.ttl:2:41: error: brackets nested more than 32 deep"});
  // Neither strings, comments nor IRIs open or close brackets.
  EXPECT_EQ(read(nested(50'000, "[ d:p \"]\" , ']' , \"\"\"\"]\"\"\" , <urn:]> , d:\\) ; # ]\n d:q ")).size(), 1u);
  EXPECT_TRUE(
      read("@prefix d: <urn:d:> . d:a d:p '[[[[[' , \"\"\"[[\"[[[\"\"\" , d:\\( . # [[[[[", {.depth = 1}).empty());
  EXPECT_TRUE(read(nested(32, "[ d:p ") + "d:b" + std::string(32, ']') + " .").empty());
}

TEST(Turtle, SizesAndCountsAreLimited) {
  const std::string text = "@prefix d: <urn:d:> .\nd:a d:p d:b , d:c , d:d .\n";
  EXPECT_TRUE(read(text).empty());
  EXPECT_EQ(read(text, {.bytes = 40}), Words{"t.ttl: error: more than 40 bytes"});
  EXPECT_EQ(read(text, {.triples = 2}), Words{"t.ttl:2:21: error: more than 2 statements"});
  EXPECT_EQ(read(text + "d:a d:p \"" + std::string(30, 'x') + "\" .", {.termBytes = 20}),
            Words{"t.ttl:3:9: error: a term of more than 20 bytes"});
  EXPECT_EQ(read(text, {.graphBytes = 20}).size(), 1u);
  // A long prefix, written out for every name.
  std::string bomb = "@prefix d: <urn:" + std::string(10'000, 'x') + "> .\n";
  for (int i = 0; i < 5'000; ++i) bomb += "d:a d:p d:" + std::to_string(i) + " .\n";
  const Words words = read(bomb);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_TRUE(words[0].ends_with("bytes together")) << words[0];
}

TEST(Turtle, AMillionErrorsAreNotAMillionLines) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "p" + std::to_string(i) + ":a <urn:p> <urn:o> .\n";
  EXPECT_LE(read(text).size(), 1'001u);
}

RC_GTEST_PROP(Turtle, PropAnyBytesGiveAGraphOrAnErrorWithAPlace, ()) {
  const std::vector<std::string> pieces{"@prefix d: <urn:d:> . ",
                                        "d:a ",
                                        "d:p ",
                                        "\"x\" ",
                                        ". ",
                                        "; ",
                                        ", ",
                                        "[ ",
                                        "] ",
                                        "( ",
                                        ") ",
                                        "<urn:x> ",
                                        "\n",
                                        "# c\n",
                                        "\"\"\"",
                                        "'",
                                        "\\",
                                        "_:b ",
                                        "x:y ",
                                        "a ",
                                        "\xc3\xa4",
                                        "\xff",
                                        "@base <urn:b> . ",
                                        "4.5 ",
                                        "true ",
                                        "@en ",
                                        "^^"};
  const auto chosen = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, pieces.size()));
  std::string text = pieces[0];
  for (const std::size_t i : chosen) text += pieces[i];
  Diagnostics found;
  const auto graph = readTurtle(text, {.depth = 4}, found);
  RC_ASSERT(graph.has_value() != found.hasErrors());
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const Diagnostic& d : found.sorted()) {
    RC_ASSERT(d.at.line >= 1u);
    RC_ASSERT(d.at.line <= lines);
    RC_ASSERT(d.at.column >= 1u);
  }
}

// What is written of a graph reads as the same graph.
RC_GTEST_PROP(Turtle, PropWhatIsReadIsReadAgain, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const Graph first = graphOf(fileText(root() / "domains/budget/budget.ttl"));
  const Graph again = graphOf(shuffled(first, random));
  RC_ASSERT(first.triples.size() == again.triples.size());
  RC_ASSERT(first.terms.size() == again.terms.size());
}

}  // namespace
}  // namespace witan::ontology::turtle_test
