// The completion scripts: made from a command line declared here, and bash really completing the program's own.
#include "cli/commands/completion.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "tests/paths.h"

namespace witan::completion_test {
namespace {

using namespace witan::node;

std::string outputOf(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t got; pipe && (got = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    text.append(buffer.data(), got);
  return text;
}

// What bash offers after these words, one a line; the last word is the one being typed.
std::string bashOffers(const std::string& words) {
  const std::string script =
      "source <(\"$0\" completion bash) && COMP_WORDS=(\"$0\" " + words +
      ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _witan && printf \"%s\\n\" \"${COMPREPLY[@]}\"";
  return outputOf(std::string("bash -c '") + script + "' " + std::string(witan::tests::kProgram));
}

bool offers(const std::string& offered, const std::string& word) {
  return ("\n" + offered).find("\n" + word + "\n") != std::string::npos;
}

TEST(Completion, PlacesFollowTheDeclaration) {
  Command app("witan", "top");
  Command* noun = app.command("noun", "A noun");
  std::string file;
  bool flag = false;
  Command* verb = noun->command("verb", "It's a verb\nwith a second line");
  verb->option("--file", file, "A file");
  verb->flag("--json", flag, "JSON");
  const auto places = completionPlaces(app);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[1].path, " noun");
  EXPECT_EQ(places[2].path, " noun verb");
  EXPECT_EQ(places[1].words[0].text, "verb");
  EXPECT_EQ(places[1].words[0].help, "It's a verb");
  const auto& words = places[2].words;
  const auto find = [&](const std::string& text) {
    for (const auto& word : words)
      if (word.text == text) return word;
    return CompletionPlace::Word{};
  };
  EXPECT_TRUE(find("--file").takesValue);
  EXPECT_TRUE(find("--json").isOption);
  EXPECT_FALSE(find("--json").takesValue);
  // A quote in a help text must not end the shell's string.
  EXPECT_NE(zshCompletion(places).find("It'\\''s a verb"), std::string::npos);
  EXPECT_NE(fishCompletion(places).find("It\\'s a verb"), std::string::npos);
}

TEST(Completion, BashCompletesNounsVerbsAndOptions) {
  EXPECT_TRUE(offers(bashOffers("\"\""), "ledger"));
  EXPECT_TRUE(offers(bashOffers("\"\""), "completion"));
  const std::string le = bashOffers("le");
  EXPECT_EQ(le, "ledger\n");
  const std::string verbs = bashOffers("ledger \"\"");
  EXPECT_TRUE(offers(verbs, "tail"));
  EXPECT_TRUE(offers(verbs, "verify"));
  EXPECT_FALSE(offers(verbs, "run"));
  EXPECT_EQ(bashOffers("ledger verify --re"), "--replay\n");
}

TEST(Completion, BashAsksTheProgramForDomainNames) {
  EXPECT_EQ(bashOffers("run --domain b"), "budget\n");
  EXPECT_EQ(bashOffers("domain show b"), "budget\n");
}

TEST(Completion, ValuesOfANodeThatDoesNotRunAreNone) {
  EXPECT_EQ(outputOf("\"" + std::string(witan::tests::kProgram) + "\" completion values devices --dir /nonexistent"),
            "");
}

}  // namespace
}  // namespace witan::completion_test
