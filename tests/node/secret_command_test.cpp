// `witan secret` as a person or script uses it; and no byte of a secret, name or passphrase is found in the directory,
// in an argument, or in anything that was printed.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "base/base64url.h"
#include "base/bytes.h"
#include "node/tools/secret_strike.h"
#include "node/tools/tool_broker.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::secret_command_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;
namespace fs = std::filesystem;

constexpr const char* kValue = "sk-live-0123456789abcdef";
constexpr const char* kPassphrase = "correct horse battery staple";

std::string readAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SecretCommand : public ::testing::Test {
 protected:
  SecretCommand() {
    scratch_.write("key", std::string(32, '\x07'));
    scratch_.write("passphrase", std::string(kPassphrase) + "\nanother line\n");
    fs::create_directories(dir());
  }
  fs::path dir() const { return scratch_ / "data"; }
  fs::path store() const { return dir() / "secrets.witan"; }

  Finished run(std::vector<std::string> words, const std::string& input = "", const char* key = "key") {
    words.insert(words.begin(), "secret");
    words.insert(words.end(), {"--dir", dir().string()});
    if (key != nullptr) words.insert(words.end(), {"--key-file", scratch_ / key});
    return runWitan(words, input, [] { setsid(); });  // without a terminal
  }
  Finished runWithPassphrase(std::vector<std::string> words, const std::string& input = "",
                             const char* file = "passphrase") {
    const std::string path = scratch_ / file;
    words.insert(words.begin(), "secret");
    words.insert(words.end(), {"--dir", dir().string()});
    return runWitan(words, input, [&] {
      setsid();
      setenv("WITAN_PASSPHRASE_FILE", path.c_str(), 1);
    });
  }

  Scratch scratch_;
};

// Every file below `dir`, for the text or any 8 bytes of it.
void expectNowhere(const fs::path& dir, std::string_view secret) {
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    const std::string content = readAll(entry.path());
    bool found = false;
    for (std::size_t i = 0; i + 8 <= secret.size(); ++i)
      found = found || content.find(secret.substr(i, 8)) != std::string::npos;
    EXPECT_FALSE(found) << "found in " << entry.path().filename();
    EXPECT_EQ(entry.path().filename().string().find(secret.substr(0, 8)), std::string::npos);
  }
}
void expectSilent(const Finished& finished, std::string_view secret) {
  EXPECT_EQ((finished.out + finished.err).find(secret.substr(0, 8)), std::string::npos);
}

TEST_F(SecretCommand, SetsListsReplacesAndForgets) {
  EXPECT_EQ(run({"list"}).out, "");
  const Finished made = run({"set", "cloud-llm-key"}, std::string(kValue) + "\n");
  EXPECT_EQ(made.exitCode, 0) << made.err;
  EXPECT_EQ(made.out, "keeps cloud-llm-key\n");
  EXPECT_EQ(run({"set", "laboratory-token", "--json"}, "t").out, "{\"set\":\"laboratory-token\"}\n");
  EXPECT_EQ(run({"list"}).out, "cloud-llm-key\nlaboratory-token\n");
  EXPECT_EQ(run({"list", "--json"}).out, "{\"secrets\":[\"cloud-llm-key\",\"laboratory-token\"]}\n");
  EXPECT_EQ(run({"set", "cloud-llm-key"}, "another").exitCode, 0);
  EXPECT_EQ(run({"rm", "laboratory-token"}).out, "removed laboratory-token\n");
  EXPECT_EQ(run({"list"}).out, "cloud-llm-key\n");
  const Finished none = run({"rm", "laboratory-token"});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_EQ(none.err, "witan: there is no secret \"laboratory-token\": see: witan secret list\n");
}

TEST_F(SecretCommand, TheFileIsForItsOwnerOnlyAndReplacedAsAWhole) {
  ASSERT_EQ(run({"set", "a"}, "1").exitCode, 0);
  struct stat status {};
  ASSERT_EQ(stat(store().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_FALSE(fs::exists(store().string() + ".new"));
  const std::string before = readAll(store());
  ASSERT_EQ(run({"set", "a"}, "1").exitCode, 0);
  EXPECT_NE(readAll(store()), before) << "a fresh nonce";
}

// "a test searches the disks for them"
TEST_F(SecretCommand, NoSecretIsFoundOnDiskOrScreen) {
  const std::string name = "name-of-a-secret";
  for (const Finished& f :
       {run({"set", name}, kValue), run({"list", "--json"}), run({"set", name}, kValue), run({"set", "other"}, "x")}) {
    EXPECT_EQ(f.exitCode, 0) << f.err;
    expectSilent(f, kValue);
  }
  expectNowhere(dir(), kValue);
  expectNowhere(dir(), name);
  ASSERT_EQ(run({"rm", name}).exitCode, 0);
  expectNowhere(dir(), kValue);
}

// A policy that calls a secret by its name, agents that work under it, and a receipt: the secret itself is nowhere.
TEST_F(SecretCommand, NoSecretIsFoundInWhatAgentsAndReceiptsLeave) {
  ASSERT_EQ(run({"set", "meta-key"}, kValue).exitCode, 0);
  const std::string examples = std::string(witan::tests::kSourceDir) + "/docs/examples/";
  std::string policy = readAll(examples + "clinic-policy.toml");
  const std::string propose = "name = \"propose\"";
  policy.replace(policy.find(propose), propose.size(), propose + "\nconfirm = true\nsecrets = [\"meta-key\"]");
  std::ofstream(dir() / "policy.toml") << policy;
  const auto witan = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--dir", dir().string()});
    const Finished finished = runWitan(words);
    expectSilent(finished, kValue);
    return finished;
  };
  ASSERT_EQ(runWitan({"device", "init", "--dir", dir().string()}).exitCode, 0);
  ASSERT_EQ(witan({"receipt", "confirm", "--agent", "udt-lab", "--boundary", "meta-agent", "--by", "ann"}).exitCode, 0);
  EXPECT_EQ(witan({"agent", "run", "--feed", examples + "clinic-day.jsonl"}).exitCode, 3)
      << "what is blocked ends a run, and one that was denied everything has failed";
  for (const char* what : {"receipt", "approval", "episode", "saga"}) EXPECT_EQ(witan({what, "list"}).exitCode, 0);
  EXPECT_NE(witan({"receipt", "list"}).out.find("udt-lab"), std::string::npos);
  expectNowhere(dir(), kValue);
}

TEST_F(SecretCommand, TheSearchFires) {
  std::ofstream(dir() / "log") << "using " << kValue;
  EXPECT_NONFATAL_FAILURE(expectNowhere(dir(), kValue), "found in");
}

TEST_F(SecretCommand, APassphraseComesFromAFile) {
  const Finished made = runWithPassphrase({"set", "a"}, kValue);
  EXPECT_EQ(made.exitCode, 0) << made.err;
  EXPECT_EQ(runWithPassphrase({"list"}).out, "a\n");
  expectNowhere(dir(), kPassphrase);
  expectNowhere(dir(), kValue);
  scratch_.write("wrong", "correct horse battery stable\n");
  const Finished wrong = runWithPassphrase({"list"}, "", "wrong");
  EXPECT_EQ(wrong.exitCode, 1);
  EXPECT_EQ(wrong.err, "witan: " + store().string() + ": this is not the passphrase of the file of secrets\n");
  expectSilent(wrong, "correct horse");
  const Finished other = run({"list"});
  EXPECT_NE(other.err.find("is for a passphrase, not for a key file"), std::string::npos) << other.err;
  scratch_.write("empty", "\n");
  EXPECT_NE(runWithPassphrase({"list"}, "", "empty").err.find("an empty passphrase"), std::string::npos);
  EXPECT_NE(runWithPassphrase({"list"}, "", "gone").err.find("cannot open the passphrase file"), std::string::npos);
}

// Nobody writes into the pipe: who opens it waits for ever.
TEST_F(SecretCommand, AKeyOrPassphraseInAPipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((scratch_ / "pipe").c_str(), 0600), 0);
  for (const Finished& f : {run({"set", "a"}, kValue, "pipe"), runWithPassphrase({"set", "a"}, kValue, "pipe")}) {
    EXPECT_FALSE(f.hung);
    EXPECT_EQ(f.exitCode, 1);
    EXPECT_NE(f.err.find("pipe is a pipe and no regular file"), std::string::npos) << f.err;
  }
  EXPECT_FALSE(fs::exists(store()));
}

// As <(...) of a shell: such a pipe has a writer.
TEST_F(SecretCommand, AKeyThatIsHandedOverIsRead) {
  ASSERT_EQ(run({"set", "a"}, kValue).exitCode, 0);
  for (const char* handed : {"/dev/stdin", "/dev/fd/0"}) {
    const Finished listed = runWitan({"secret", "list", "--dir", dir().string(), "--key-file", handed},
                                     std::string(32, '\x07'), [] { setsid(); });
    EXPECT_EQ(listed.out, "a\n") << listed.err;
  }
}

TEST_F(SecretCommand, WithoutAnyKeyItSaysWhatToGive) {
  const Finished none = run({"set", "a"}, kValue, nullptr);
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_EQ(none.err,
            "witan: there is no terminal to ask for the passphrase on: name a file that has it in "
            "WITAN_PASSPHRASE_FILE, or give --key-file FILE\n");
  EXPECT_FALSE(fs::exists(store()));
  ASSERT_EQ(run({"set", "a"}, "1").exitCode, 0);
  EXPECT_NE(run({"list"}, "", nullptr).err.find("give it: --key-file FILE"), std::string::npos);
}

// ImportErrors say why, quote no secret and change nothing.
TEST_F(SecretCommand, BadInputIsRefused) {
  ASSERT_EQ(run({"set", "a"}, kValue).exitCode, 0);
  const std::string before = readAll(store());
  const auto refused = [&](const Finished& f, const std::string& why) {
    EXPECT_EQ(f.exitCode, 1);
    EXPECT_NE(f.err.find(why), std::string::npos) << f.err;
    EXPECT_EQ(f.out, "");
    expectSilent(f, kValue);
    EXPECT_EQ(readAll(store()), before);
  };
  scratch_.write("short", "abc");
  scratch_.write("other-key", std::string(32, '\x08'));
  refused(run({"set", "a"}, ""), "an empty secret");
  refused(run({"set", "a"}, "\n"), "an empty secret");
  refused(run({"set", "a"}, std::string(70'000, 'x')), "more than 65536 bytes");
  refused(run({"set", "a"}, kValue, "other-key"), "this is not the key of the file of secrets");
  refused(run({"set", "a"}, kValue, "short"), "a key file has 32 bytes");
  refused(run({"set", "a"}, kValue, "gone"), "cannot open the key file");
  EXPECT_EQ(runWitan({"secret", "set", "a", kValue}).exitCode, 2) << "never an argument";
}

TEST_F(SecretCommand, ADamagedFileIsNotWrittenOver) {
  ASSERT_EQ(run({"set", "a"}, kValue).exitCode, 0);
  std::string damaged = readAll(store());
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  std::ofstream(store(), std::ios::binary) << damaged;
  for (const Finished& f : {run({"set", "b"}, "1"), run({"list"}), run({"rm", "a"})}) {
    EXPECT_EQ(f.exitCode, 1);
    EXPECT_NE(f.err.find("has damaged contents"), std::string::npos) << f.err;
  }
  EXPECT_EQ(readAll(store()), damaged);
}

TEST_F(SecretCommand, TwoAtOnceDoNotLoseOne) {
  ASSERT_EQ(run({"set", "a"}, "1").exitCode, 0);
  const int fd = open((store().string() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const Finished second = run({"set", "b"}, "2");
  close(fd);
  EXPECT_EQ(second.exitCode, 1);
  EXPECT_NE(second.err.find("another command is changing the secrets"), std::string::npos) << second.err;
  EXPECT_EQ(run({"list"}).out, "a\n");
}

TEST_F(SecretCommand, ValuesKeepTheirLines) {
  // As a PEM key: only the last line end is not part of it. Seen through the size of what is refused.
  EXPECT_EQ(run({"set", "pem"}, std::string(65'535, 'x') + "\n\n").exitCode, 0);
  EXPECT_EQ(run({"set", "pem"}, std::string(65'536, 'x') + "\r\n").exitCode, 0);
  EXPECT_EQ(run({"set", "pem"}, std::string(65'536, 'x') + "\n\n").exitCode, 1);
}

// ---- at a terminal ----

// The program with a terminal of its own, driven by what it asks; everything the terminal showed.
struct Terminal {
  std::string shown;
  int exitCode = -1;
};

Terminal atTerminal(const std::vector<std::string>& words,
                    const std::vector<std::pair<std::string, std::string>>& talk) {
  int master = -1;
  const pid_t pid = forkpty(&master, nullptr, nullptr, nullptr);
  WITAN_CHECK(pid >= 0, "a terminal");
  if (pid == 0) {
    std::string program = witan::tests::kProgram;
    std::vector<std::string> kept = words;
    std::vector<char*> argv{program.data()};
    for (std::string& word : kept) argv.push_back(word.data());
    argv.push_back(nullptr);
    unsetenv("WITAN_PASSPHRASE_FILE");
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  Terminal out;
  std::size_t next = 0, from = 0;
  char buffer[4096];
  // EIO: the other side is gone.
  for (ssize_t got; (got = read(master, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) out.shown.append(buffer, static_cast<std::size_t>(got));
    if (next == talk.size()) continue;
    const std::size_t asked = out.shown.find(talk[next].first, from);
    if (asked == std::string::npos) continue;
    from = asked + talk[next].first.size();
    const std::string& answer = talk[next++].second;
    WITAN_CHECK(write(master, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size()), "typed");
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(master);
  out.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

TEST_F(SecretCommand, ATerminalIsAskedAndShowsNothing) {
  const std::string typed = std::string(kPassphrase) + "\n";
  const Terminal made =
      atTerminal({"secret", "set", "a", "--dir", dir().string()}, {{"New passphrase of the secrets: ", typed},
                                                                   {"The same again: ", typed},
                                                                   {"Value of a: ", std::string(kValue) + "\n"}});
  EXPECT_EQ(made.exitCode, 0) << made.shown;
  EXPECT_NE(made.shown.find("keeps a"), std::string::npos) << made.shown;
  EXPECT_EQ(made.shown.find(kValue), std::string::npos);
  EXPECT_EQ(made.shown.find(kPassphrase), std::string::npos);
  expectNowhere(dir(), kValue);
  const Terminal listed =
      atTerminal({"secret", "list", "--dir", dir().string()}, {{"Passphrase of the secrets: ", typed}});
  EXPECT_EQ(listed.exitCode, 0) << listed.shown;
  EXPECT_NE(listed.shown.find("a\r\n"), std::string::npos) << listed.shown;
  EXPECT_EQ(runWithPassphrase({"list"}).out, "a\n") << "the same passphrase, from a file";
}

TEST_F(SecretCommand, ATerminalThatSaysTwoThingsOrCtrlCChangesNothing) {
  const Terminal differ = atTerminal({"secret", "set", "a", "--dir", dir().string()},
                                     {{"New passphrase of the secrets: ", "one\n"}, {"The same again: ", "two\n"}});
  EXPECT_EQ(differ.exitCode, 1);
  EXPECT_NE(differ.shown.find("the two passphrases differ"), std::string::npos) << differ.shown;
  const Terminal stopped =
      atTerminal({"secret", "set", "a", "--dir", dir().string()}, {{"New passphrase of the secrets: ", "one\x03"}});
  EXPECT_EQ(stopped.exitCode, 1);
  EXPECT_NE(stopped.shown.find("interrupted"), std::string::npos) << stopped.shown;
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(SecretCommand, WhereThereIsNoDirectoryThereIsNothingToList) {
  const Finished listed = runWitan({"secret", "list", "--dir", (dir() / "nosuchdir").string()});
  EXPECT_EQ(listed.exitCode, 1);
  EXPECT_NE(listed.err.find("there is no data directory"), std::string::npos) << listed.err;
}

// --- what a tool says back

constexpr const char* kOdd = "p+q/\"r\xc3\xa9 0123";

TEST(SecretStrike, TakesEveryFormOfTheValueAndNothingElse) {
  const Secret secret = Secret::copyOf(concat(kOdd, "\n"));
  const SecretStrike strike(&secret);
  const std::string struck(SecretStrike::kStruck);
  EXPECT_EQ(strike.of(concat("bad key <", kOdd, ">, ", kOdd)), concat("bad key <", struck, ">, ", struck));
  EXPECT_EQ(strike.of(R"({"key":"p+q/\"ré 0123"})"), concat(R"({"key":")", struck, R"("})"));
  EXPECT_EQ(strike.of("?key=p%2Bq%2F%22r%C3%A9%200123&a"), concat("?key=", struck, "&a"));
  EXPECT_EQ(strike.of("?key=p%2bq%2f%22r%c3%a9%200123&a"), concat("?key=", struck, "&a"));
  EXPECT_EQ(strike.of(toHex(asBytes(kOdd))), struck);
  for (const std::string before : {"", "u", "ui", "uid"})
    for (const std::string after : {"", "a", "ab"})
      for (const bool url : {false, true}) {
        const std::string whole = concat(before, kOdd, after);
        const std::string said = strike.of(concat("Basic ", url ? toBase64Url(whole) : toBase64(whole)));
        EXPECT_NE(said.find(struck), said.npos) << said;
        EXPECT_LT(said.size(), struck.size() + 16) << said;
      }
  EXPECT_EQ(strike.of("key=p%2Bq%2F%22r%C3%A9+0123&a"), concat("key=", struck, "&a"));
  EXPECT_EQ(strike.of("%70%2b%71/\"r\\u00E9\\x200123 "), concat(struck, " "));
  EXPECT_EQ(strike.of(R"(p\u002bq\/\"r\u00e9 \u0030123!)"), concat(struck, "!"));
  EXPECT_EQ(strike.of("70 2B 71 2F 22 72 C3 A9 20 30 31 32 33."), concat(struck, "."));
  EXPECT_EQ(strike.of("0x70, 0x2b, 0x71, 0x2f, 0x22, 0x72, 0xc3, 0xa9, 0x20, 0x30, 0x31, 0x32, 0x33;"),
            concat("0x", struck, ";"));
  EXPECT_EQ(strike.of("cut off: p%2Bq%2F%2"), concat("cut off: ", struck));
  EXPECT_EQ(strike.of("cut off: 702B712"), concat("cut off: ", struck));
  EXPECT_EQ(strike.of(concat("p+q/\"r", kOdd)), concat("p+q/\"r", struck));
  EXPECT_EQ(strike.of("cut off: p+q/\"r\xc3"), concat("cut off: ", struck));
  EXPECT_EQ(strike.of("p+q is fine, 0123 too"), "p+q is fine, 0123 too");
  EXPECT_EQ(canonicalJson(strike.ofJson(json::value{{"a", json::array{1, kOdd}}, {kOdd, nullptr}})),
            R"({"[secret]":null,"a":[1,"[secret]"]})");
  const Secret path = Secret::copyOf(R"(a\\n\b)");
  EXPECT_EQ(SecretStrike(&path).of(R"(a\\n\b, a\\\\n\\b.)"), concat(struck, ", ", struck, "."));
  const Secret brief = Secret::copyOf("abc");
  EXPECT_EQ(SecretStrike(&brief).of("abc"), "abc");
  EXPECT_EQ(SecretStrike(nullptr).of(kOdd), kOdd);
}

// Of the result, of the words of a failure, of what is written to stderr and to the file of records.
TEST(SecretStrike, WhatAToolSaysBackComesWithoutItsSecret) {
  Scratch scratch;
  agents::SecureStore secrets;
  ASSERT_TRUE(secrets.set("key", Secret::copyOf(kValue)).ok());
  std::string log;
  net::Loop loop;
  Log lines(
      LogLevel::info, false, [] { return Time{}; }, [&](std::string_view line) { log += line; });
  const auto tool = [&](const std::string& name, const std::string& script) {
    ToolConfig config{.name = name, .kind = "command", .command = {"/bin/sh", "-c", script}, .looks = {"get"}};
    config.secret = "key", config.secretAs = "env:KEY", config.record = scratch / "record";
    return config;
  };
  auto broker = ToolBroker::open(
      loop, lines,
      {tool("says", R"(printf '{"tracking":"T %s"}' "$KEY")"), tool("fails", R"(echo "bad key $KEY" >&2; exit 1)")},
      std::move(secrets));
  ASSERT_TRUE(broker.ok()) << broker.error().message;
  std::vector<ToolAnswer> answers;
  for (const char* name : {"says.get", "fails.get"})
    (*broker)->call({RunKey{}, "clerk", "look-1", std::nullopt, name, {}}, [&](const ToolAnswer& answer) {
      answers.push_back(answer);
      if (answers.size() == 2) loop.stop();
    });
  loop.run();
  ASSERT_EQ(answers.size(), 2u);
  std::string all = log + readAll(scratch / "record");
  for (const ToolAnswer& answer : answers) all += canonicalJson(answer.content) + answer.error + "\n";
  EXPECT_EQ(all.find(kValue), all.npos) << all;
  EXPECT_NE(all.find(R"({"tracking":"T [secret]"})"), all.npos) << all;
  EXPECT_NE(all.find("bad key [secret]"), all.npos) << all;
}

}  // namespace
}  // namespace witan::node::secret_command_test
