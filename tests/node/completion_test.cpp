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

TEST(Completion, WordsFollowTheDeclaration) {
  Command app("witan", "top");
  Command* noun = app.command("noun", "A noun");
  std::string file;
  bool flag = false;
  Command* verb = noun->command("verb", "It's a verb\nwith a second line");
  verb->option("--file", file, "A file");
  verb->flag("--json", flag, "JSON");
  const auto texts = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all;
    for (const auto& word : completionsOf(app, words).words) all.push_back(word.text);
    return all;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(texts({"n"}).front(), "noun");
  EXPECT_EQ(completionsOf(app, {"noun", ""}).words.front().text, "verb");
  EXPECT_EQ(completionsOf(app, {"noun", ""}).words.front().about, "It's a verb");
  EXPECT_EQ(texts({"noun", "verb", "-"}), (Words{"--help", "--file", "--json"}));
  EXPECT_TRUE(completionsOf(app, {"noun", "verb", "--file", "x"}).files);
  EXPECT_EQ(texts({"noun", "verb", "--file", "x"}), Words());
  EXPECT_EQ(texts({"noun", "verb", "--json", ""}).size(), 3u) << "a flag takes no value";
}

TEST(Completion, PositionalsAreCounted) {
  Command app("witan", "top");
  std::string domain, entity, file;
  Command* verb = app.command("begin", "Begin");
  verb->option("DOMAIN", domain, "Which");
  verb->option("ENTITY", entity, "Its id");
  verb->option("FILE", file, "A file");
  EXPECT_EQ(completionsOf(app, {"begin", ""}).values, "domains");
  EXPECT_EQ(completionsOf(app, {"begin", "budget", ""}).values, "entities");
  EXPECT_TRUE(completionsOf(app, {"begin", "budget", "team", ""}).files);
  EXPECT_EQ(completionsOf(app, {"begin", "budget", "team", "x", ""}).values, "");
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
  EXPECT_EQ(bashOffers("ledger verify --rep"), "--replay\n");
}

TEST(Completion, BashAsksTheProgramForDomainNames) {
  EXPECT_EQ(bashOffers("run --domain b"), "budget\n");
  EXPECT_EQ(bashOffers("domain show b"), "budget\n");
}

TEST(Completion, ValuesOfANodeThatDoesNotRunAreNone) {
  EXPECT_EQ(outputOf("\"" + std::string(witan::tests::kProgram) +
                     "\" completion words -- device revoke --dir /nonexistent x"),
            "");
}

}  // namespace
}  // namespace witan::completion_test
