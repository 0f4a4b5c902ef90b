#include "base/json_cut.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/json.h"

namespace witan::json_cut_test {
namespace {

// "key=text" of each part, or the error.
std::vector<std::string> partsOf(std::string_view text) {
  std::vector<std::string> parts;
  JsonCut cut(text);
  for (;;) {
    const auto part = cut.next();
    if (!part.ok()) return {part.error().message};
    if (!*part) return parts;
    parts.push_back(std::string((*part)->key) + "=" + std::string((*part)->text));
  }
}
using Parts = std::vector<std::string>;

TEST(JsonCut, GivesThePartsOfObjectsAndLists) {
  EXPECT_EQ(partsOf(R"({"a":1,"b":[1,{"c":"]},"}],"d\"":"x"})"),
            (Parts{R"("a"=1)", R"("b"=[1,{"c":"]},"}])", R"("d\""="x")"}));
  EXPECT_EQ(partsOf(" [ 1 , \"\\\\\" ] \n"), (Parts{"=1 ", "=\"\\\\\" "}));
  EXPECT_EQ(partsOf("[]"), Parts{});
  EXPECT_EQ(partsOf(" { } "), Parts{});
}

TEST(JsonCut, NamesTheByteWhereATextGoesWrong) {
  EXPECT_EQ(partsOf("7"), Parts{"JSON at byte 0: expected an object or a list"});
  EXPECT_EQ(partsOf(""), Parts{"JSON at byte 0: expected an object or a list"});
  EXPECT_EQ(partsOf("[1"), Parts{"JSON at byte 2: the text ends too early"});
  EXPECT_EQ(partsOf("[\"a"), Parts{"JSON at byte 3: the text ends too early"});
  EXPECT_EQ(partsOf("[\"a\\"), Parts{"JSON at byte 4: the text ends too early"});
  EXPECT_EQ(partsOf("[1] 2"), Parts{"JSON at byte 4: there is text after the value"});
  EXPECT_EQ(partsOf("[1}"), Parts{"JSON at byte 2: expected a comma or the end of the container"});
  EXPECT_EQ(partsOf("{1:2}"), Parts{"JSON at byte 1: expected a key"});
  EXPECT_EQ(partsOf("{\"a\" 2}"), Parts{"JSON at byte 5: expected a colon"});
}

TEST(JsonCut, WhatIsNoValueIsLeftToTheParser) {
  // Empty parts come as such: the parser refuses them.
  EXPECT_EQ(partsOf("[1,]"), (Parts{"=1", "="}));
  EXPECT_FALSE(parseJson("").ok());
}

TEST(JsonCut, CountsWhatAParserWouldMake) {
  JsonCut cut(R"([0,[1,2],{"a":"x,y","b":[]}])");
  EXPECT_EQ((*cut.next())->values, 1u);
  EXPECT_GE((*cut.next())->values, 3u);
  const auto object = *cut.next();
  EXPECT_GE(object->values, 5u);
  EXPECT_LE(object->values, 7u) << "commas within strings are none";
  EXPECT_GE(jsonValuesAtMost("[0,0,0]"), 4u);
  EXPECT_LE(jsonValuesAtMost("\",,,,,,\""), 2u);
}

}  // namespace
}  // namespace witan::json_cut_test
