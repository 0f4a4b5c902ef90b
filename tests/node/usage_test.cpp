// What a mistyped command line is answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error_report.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::usage_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Usage, TheHelpThatIsNamedIsThatOfTheCommand) {
  const std::pair<std::vector<std::string>, const char*> lines[] = {
      {{}, "see witan --help\n"},
      {{"frobnicate"}, "see witan --help\n"},
      {{"coordinate"}, "see witan coordinate --help\n"},
      {{"coordinate", "run"}, "see witan coordinate run --help\n"},
      {{"domain", "generate", "budget", "--days", "x"}, "see witan domain generate --help\n"},
      {{"device", "invite", "--frobnicate"}, "see witan device invite --help\n"},
      {{"run"}, "see witan run --help\n"},
  };
  for (const auto& [words, hint] : lines) {
    const Finished run = runWitan(words);
    EXPECT_EQ(run.exitCode, kExitUsage) << hint;
    EXPECT_THAT(run.err, EndsWith(hint));
  }
  EXPECT_THAT(runWitan({"coordinate", "run", "--json"}).err, HasSubstr(R"("hint":"see witan coordinate run --help")"));
}

TEST(Usage, ACommandThatThereIsNotIsNamed) {
  EXPECT_THAT(runWitan({"nosuch"}).err, HasSubstr("unknown command \"nosuch\""));
  EXPECT_THAT(runWitan({"sim", "nosuch", "--json"}).err, HasSubstr("unknown command \\\"nosuch\\\""));
  EXPECT_THAT(runWitan({"sim"}).err, HasSubstr("subcommand is required"));
  EXPECT_THAT(runWitan({"sim", "--nosuch"}).err, Not(HasSubstr("unknown command")));
}

TEST(Usage, AShareThatIsNoneIsAUsageError) {
  const Finished run = runWitan(
      {"ontology", "derive", std::string(witan::tests::kSourceDir) + "/domains/udt/udt.ttl", "--max-excess", "3/2"});
  EXPECT_EQ(run.exitCode, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("--max-excess: \"3/2\" is no share (write it as N/M, for example 2/3)"));
}

// Whatever command and option: said before anything is opened or asked, with exit code 2 and the help to look at.
TEST(Usage, WhatIsGivenInAnotherFormIsAUsageError) {
  const std::string digest(64, 'a');
  const std::pair<std::vector<std::string>, const char*> lines[] = {
      {{"status", "--wait", "soon"}, "--wait: soon not in {ready,connected,quiet}"},
      {{"begin", "budget", "e", "--init", "{"}, "--init: "},
      {{"propose", "budget", "e", "A", "SpendA"}, "ACTION: "},
      {{"propose", "budget", "e", "A", "{}", "--operation-id", ""}, "--operation-id: it is empty"},
      {{"run", "--domain", "budget", "--events", "-", "--pending-ttl", "P0D"},
       "--pending-ttl: \"P0D\" is no positive ISO 8601 duration (for example P7D or PT36H)"},
      {{"init", "--listen", "nowhere"}, "--listen: \"nowhere\" is no address (give HOST:PORT"},
      {{"init", "--advertise", "0.0.0.0:1"}, "--advertise: nobody can dial \"0.0.0.0:1\""},
      {{"init", "--name", "a\nb"}, "--name: the name"},
      {{"join", "--address", "nowhere"}, "--address: \"nowhere\" is no address"},
      {{"up", "--dial", "nowhere"}, "--dial: \"nowhere\" is no address"},
      {{"up", "--log-level", "loud"}, "--log-level: loud not in {debug,info,warn,error}"},
      {{"device", "invite", "--role", "*", "--ttl", "soon"}, "--ttl: \"soon\" is no duration"},
      {{"device", "invite", "--role", "udt"}, "--role: \"udt\" is no role of a device"},
      {{"device", "invite", "--role", "*", "--address", "nowhere"}, "--address: \"nowhere\" is no address"},
      {{"queue", "approve", "7", "--counselor", "c", "--digest", "abc"}, "--digest: "},
      {{"queue", "approve", "7", "--counselor", "c", "--digest", digest.c_str(), "--edit", "[]"},
       "--edit: expected a JSON object"},
      {{"queue", "approve", "7", "--counselor", "c", "--digest", digest.c_str(), "--base", "none"},
       "--base: none not in"},
      {{"queue", "reject", "7", "--counselor", "c", "--at", "noon"}, "--at: "},
      {{"ledger", "tail", "-n", "10001"}, "-n 10001: the newest 10000 at most"},
      {{"approval", "approve", "a", "--digest", "b", "--by", "ann"}, "--digest: \"b\" is no digest"},
      {{"receipt", "confirm", "--agent", "a", "--boundary", "b", "--by", "c", "--model", "m"},
       "--model requires --provider"},
      {{"policy", "check", "--boundary", "b"}, "belong together"},
      {{"agent", "set", "a", "--lifecycle", "asleep"}, "--lifecycle: "},
      {{"agent", "set", "a", "--sleep-until", "noon"}, "--sleep-until: \"noon\" is no moment"},
      {{"agent", "set", "a", "--slot", "mood={}"}, "--slot: \"mood={}\" sets no slot"},
      {{"journal", "resolve", "a", "--choose", "x"}, "--choose: "},
      {{"journal", "put", "a", "--text", "x", "--json-payload", "-"}, " excludes --"},
      {{"state", "merge", "-", "-"}, "- is given twice"},
      {{"domain", "import", "disclosure", "x", "--from", "osv", "--at", "noon"}, "--at: "},
      {{"sim", "run", "calm", "--time", "soon"}, "--time: "},
      {{"conformance", "luck"}, "there is no suite \"luck\""},
      {{"join", "witan1.abc"}, "TOKEN: this is no invitation (its end is missing)"},
      {{"join", "--address", "127.0.0.1:1"}, "an invitation is missing"},
      {{"propose", "budget", "e", "A", "{}", "--operation-id", "a b"}, "--operation-id: the operation id \"a b\" has"},
      {{"begin", "budget", "e", "--operation-id", "a b"}, "--operation-id: the operation id \"a b\" has"},
      {{"device", "invite", "--role", "*", "--scope", "a b"}, "--scope: the scope \"a b\" has"},
      {{"device", "init", "--device", "a@b"}, "--device: device \"a@b\""},
      {{"device", "init", "--cluster", "a b"}, "--cluster: cluster \"a b\" has"},
      {{"device", "admit", "a b"}, "DEVICE: device \"a b\" has"},
      {{"device", "admit", "a", "--name", "\xff"}, "--name: the name is no UTF-8"},
      {{"secret", "set", "a b"}, "NAME: the secret's name \"a b\" has"},
      {{"journal", "put", "a b", "--text", "x"}, "ID: journal entity \"a b\" has"},
      {{"journal", "get", ""}, "ID: journal entity is empty"},
      {{"journal", "resolve", "a b"}, "ID: journal entity \"a b\" has"},
      {{"journal", "list", "--scope", "a b"}, "--scope: the scope \"a b\" has"},
      {{"journal", "list", "--scope", "cluster"}, "--scope: the scope cluster is kept for statements"},
      {{"agent", "create", "a b"}, "ID: agent \"a b\" has"},
      {{"agent", "show", "a b"}, "ID: agent \"a b\" has"},
      {{"agent", "set", "a b"}, "ID: agent \"a b\" has"},
      {{"agent", "pause", "a b"}, "ID: agent \"a b\" has"},
      {{"saga", "retry", "x", "--by", "ann"}, "OPERATION: \"x\" is no operation id (64 hexadecimal digits"},
      {{"approval", "deny", "x", "--digest", digest, "--by", "ann"}, "OPERATION: \"x\" is no operation id"},
      {{"receipt", "withdraw", "x"}, "KEY: \"x\" is no receipt's key"},
      {{"episode", "show", "x"}, "RUNKEY: \"x\" is no run key"},
  };
  for (const auto& [words, why] : lines) {
    const Finished run = runWitan(words);
    EXPECT_EQ(run.exitCode, kExitUsage) << words[0] << " " << words[1] << ": " << why << "\n" << run.err;
    EXPECT_THAT(run.err, HasSubstr(why));
    EXPECT_EQ(run.out, "");
  }
}

// CLI11 alone would take -1 for the largest number there is, 010 for eight, and a length that overflows a clock.
TEST(Usage, NumbersHaveTheirRange) {
  struct Numeric {
    std::vector<std::string> words;
    const char* least;  // one below it
    const char* most;   // one above it
  };
  const char* const kHuge = "18446744073709551616";
  const Numeric options[] = {
      {{"status", "--wait", "ready", "--timeout"}, "-1", "2592001"},
      {{"propose", "budget", "e", "A", "{}", "--wait-ms"}, "-1", "120001"},
      {{"begin", "budget", "e", "--wait-ms"}, "-1", "120001"},
      {{"init", "--partitions"}, "0", "257"},
      {{"join", "--address", "127.0.0.1:1", "--wait"}, "-1", "2592001"},
      {{"device", "invite", "--role", "*", "--uses"}, "0", "1025"},
      {{"device", "invite", "--role", "*", "--ttl"}, "0s", "31d"},
      {{"ledger", "tail", "-n"}, "-1", kHuge},
      {{"ledger", "show"}, "0", kHuge},
      {{"ledger", "export", "--from"}, "0", kHuge},
      {{"ledger", "export", "--to"}, "-1", kHuge},
      {{"ledger", "proof"}, "0", kHuge},
      {{"ledger", "proof", "--consistency-from"}, "0", kHuge},
      {{"agent", "set", "a", "--failures"}, "-1", kHuge},
      {{"agent", "feed", "--entities"}, "0", "10001"},
      {{"agent", "feed", "--days"}, "0", "3661"},
      {{"agent", "feed", "--seed"}, "-1", kHuge},
      {{"domain", "generate", "budget", "--entities"}, "0", "10001"},
      {{"domain", "generate", "budget", "--seed"}, "-1", kHuge},
      {{"domain", "lint", "budget", "--steps"}, "0", "10000001"},
      {{"sync", "demo", "--seed"}, "-1", kHuge},
      {{"sim", "run", "calm", "--seed"}, "-1", kHuge},
      {{"sim", "run", "calm", "--jobs"}, "0", "257"},
      {{"sim", "shrink", "calm", "--seed", "1", "--runs"}, "0", kHuge},
      {{"sim", "explore", "--depth"}, "0", "1000001"},
      {{"sim", "explore", "--states"}, "0", "100000001"},
      {{"sim", "mutants", "--budget"}, "0", "1000001"},
      {{"sim", "mutants", "--jobs"}, "0", "257"},
  };
  for (const Numeric& option : options)
    for (const char* given : {option.least, option.most, "nan", "010"}) {
      std::vector<std::string> words = option.words;
      words.emplace_back(given);
      const Finished run = runWitan(words);
      EXPECT_EQ(run.exitCode, kExitUsage) << ::testing::PrintToString(words) << run.err;
      EXPECT_THAT(run.err, HasSubstr("\"" + std::string(given) + "\" is no "));
    }
}

TEST(Usage, FingerprintTakesTheDomainInBothWays) {
  const std::vector<std::string> few{"--steps", "50", "--traces", "5", "--json"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"domain", "fingerprint"});
    words.insert(words.end(), few.begin(), few.end());
    return runWitan(words);
  };
  const Finished named = with({"--domain", "budget"}), placed = with({"budget"});
  EXPECT_EQ(placed.exitCode, 0) << placed.err;
  EXPECT_EQ(placed.out, named.out);
  EXPECT_THAT(placed.out, HasSubstr("budget"));
}

TEST(Usage, AFileOfScenariosThatIsNotThereIsCalledAFile) {
  const Finished missing = runWitan({"domain", "test", "nofile.jsonl"});
  EXPECT_EQ(missing.exitCode, kExitFailed);
  EXPECT_THAT(missing.err, HasSubstr("cannot open nofile.jsonl (No such file or directory)"));
  const Scratch scratch;
  scratch.write("mine.jsonl", "");
  const Finished strange = runWitan({"domain", "test", scratch / "mine.jsonl"});
  EXPECT_EQ(strange.exitCode, kExitFailed);
  EXPECT_THAT(strange.err, HasSubstr("there is no domain \"mine\", which the file is called after: name the domain "
                                     "with --domain"));
}

}  // namespace
}  // namespace witan::node::usage_test
