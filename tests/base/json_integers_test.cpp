
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace witan::json_integers_test {
namespace {

using ::testing::HasSubstr;

TEST(JsonIntegers, WhatAValueHoldsPasses) {
  for (const char* text :
       {"0", "-0", "-9223372036854775808", "18446744073709551615", "1e300", "1.2345678901234567890123", "-1E-7",
        "100000000000000000000", R"({"a":[1,-2,3.5,{"b":null}]})", R"("123456789012345678901234567890")",
        R"({"123456789012345678901234567890":"\"18446744073709551617\\"})"})
    EXPECT_TRUE(parseJson(text).ok() && checkIntegersKept(text).ok()) << text;
}

TEST(JsonIntegers, TheFirstThatWouldLoseDigitsIsNamed) {
  for (const char* number : {"18446744073709551617", "-9223372036854775809", "123456789012345678901234567890"}) {
    const std::string text = R"({"s":"1\"2","list":[1,)" + std::string(number) + ",18446744073709551618]}";
    ASSERT_TRUE(parseJson(text).ok());
    const Status kept = checkIntegersKept(text);
    ASSERT_FALSE(kept.ok()) << text;
    EXPECT_EQ(kept.error().message,
              "byte 22: the number " + std::string(number) + " exceeds 64 bits and would lose digits");
  }
  EXPECT_THAT(checkIntegersKept(std::string(200, '7')).error().message,
              HasSubstr("number " + std::string(40, '7') + "... exceeds"));
}

}  // namespace
}  // namespace witan::json_integers_test
