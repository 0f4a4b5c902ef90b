#include "base/toml_text.h"

#include <gtest/gtest.h>

namespace witan::toml_text_test {
namespace {

std::string dotted(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += i % 2 == 0 ? ".a" : " . 'a'";
  return key;
}

// The parser would recurse until the stack is gone.
TEST(TomlText, KeysOfManyPartsAreRefusedWithTheirLine) {
  for (const std::string& text : {"x = 1\n" + dotted(50'000) + " = 1\n", "x = 1\n[" + dotted(50'000) + "]\n",
                                  "x = 1\ny = { " + dotted(50'000) + " = 1 }\n",
                                  "x = 1\ny = [\"\"\"a\"\"\"\", { " + dotted(50'000) + " = \"\" }]\n",
                                  "x = '#'\n" + dotted(50'000) + " = '''\n'''\n"}) {
    const Status checked = checkTomlKeys(text, "witan.toml");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().message, "witan.toml: line 2: a key of more than 256 parts");
  }
}

TEST(TomlText, WhatPeopleWritePasses) {
  std::string numbers = "x = [0.5";
  for (int i = 0; i < 1'000; ++i) numbers += ", 0.5";
  const std::string dots(1'000, '.');
  for (const std::string& text : {dotted(256) + " = 1\n", numbers + "]\n", std::string(), "# " + dots + "\nx = 1\n",
                                  "x = \"\\\"" + dots + "\"\ny = '" + dots + "'\n", "x = '''\n\"" + dots + "\n'''\n"})
    EXPECT_TRUE(checkTomlKeys(text, "witan.toml").ok());
}

}  // namespace
}  // namespace witan::toml_text_test
