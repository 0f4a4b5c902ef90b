// `witan person` and answers that people sign, on a node as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/crypto.h"
#include "base/sealed_key.h"
#include "tests/node/node_process.h"

namespace witan::node::person_command_test {
namespace {

using test::begin;
using test::Finished;
using test::Node;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SealedKey, OpensWithItsPassphraseOnly) {
  SystemRandom random;
  const SigningKey key = SigningKey::generate(random);
  const auto sealed = sealKey(key, Secret::copyOf("correct horse"));
  ASSERT_TRUE(sealed.ok());
  EXPECT_THAT(*sealed, StartsWith("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
  EXPECT_EQ(openSealedKey(*sealed, Secret::copyOf("correct horse"))->publicKey(), key.publicKey());
  EXPECT_THAT(openSealedKey(*sealed, Secret::copyOf("correct house")).error().message, HasSubstr("does not open"));
  EXPECT_THAT(openSealedKey("no key", Secret::copyOf("correct horse")).error().message, HasSubstr("holds no key"));
  EXPECT_THAT(sealKey(key, Secret::copyOf("short")).error().message, HasSubstr("too short"));
}

class PersonCommand : public ::testing::Test {
 protected:
  PersonCommand() {
    scratch.write("passphrase", "correct horse\n");
    EXPECT_TRUE(begin(node)) << node.log();
    EXPECT_EQ(node.run({"begin", "moderation", "post"}).exitCode, 0);
    propose("SignalTriage",
            R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})");
    propose("UserNotice", R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})");
    propose("Enforcement",
            R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})");
  }
  void propose(const char* role, const char* action) {
    const Finished made = node.run({"propose", "moderation", "post", role, action});
    EXPECT_EQ(made.exitCode, 0) << made.out << made.err;
  }
  Finished withPassphrase(std::vector<std::string> words) {
    words.insert(words.end(), {"--dir", node.dir()});
    const std::string path = scratch / "passphrase";
    return runWitan(words, "", [&] {
      setsid();
      setenv("WITAN_PASSPHRASE_FILE", path.c_str(), 1);
    });
  }
  Finished reject(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"queue", "reject", "post", "--counselor", "human.lead", "--reason", "no"};
    words.insert(words.end(), more.begin(), more.end());
    return withPassphrase(words);
  }

  const Scratch scratch;
  Node node{scratch, "desk"};
};

TEST_F(PersonCommand, WhoHasAKeyAnswersAlone) {
  const std::string file = scratch / "lead.pem";
  EXPECT_THAT(node.run({"person", "list"}).out, HasSubstr("need no signature"));
  EXPECT_THAT(withPassphrase({"person", "add", "human.lead", "--role", "moderation.judge", "--out", file}).err,
              HasSubstr("is no role of a person"));
  const std::string other = scratch / "other.pem", mine = scratch / "mine.pem";
  EXPECT_THAT(withPassphrase({"person", "add", "desk", "--role", "moderation.counselor", "--out", other}).err,
              HasSubstr("is a device"));
  const Finished wrong =
      withPassphrase({"person", "add", "somebody", "--role", "moderation.counselor", "--out", scratch / "some.pem"});
  ASSERT_EQ(wrong.exitCode, 0) << wrong.err;
  EXPECT_THAT(wrong.err, HasSubstr("\"somebody\" is no counselor of moderation"));
  const Finished added =
      withPassphrase({"person", "add", "human.lead", "--role", "moderation.counselor", "--out", mine});
  ASSERT_EQ(added.exitCode, 0) << added.err;
  EXPECT_THAT(added.out, HasSubstr("the key is in " + mine));
  for (const std::string& key : {"01" + std::string(62, '0'), "ec" + std::string(60, 'f') + "7f", std::string(64, 'f')})
    EXPECT_THAT(node.run({"person", "add", "weak", "--role", "moderation.counselor", "--public", key}).err,
                HasSubstr("is no Ed25519 key"));
  EXPECT_THAT(node.run({"person", "list"}).out, HasSubstr("human.lead"));
  EXPECT_THAT(withPassphrase({"person", "add", "again", "--role", "moderation.counselor", "--out", mine}).err,
              HasSubstr("there is a file"));

  EXPECT_THAT(reject().err, HasSubstr("bears no signature of human.lead"));
  EXPECT_THAT(reject({"--sign", scratch / "some.pem", "--operation-id", "o-2"}).err,
              HasSubstr("is not one by which human.lead may"));
  const Finished done = reject({"--sign", mine, "--operation-id", "o-3"});
  ASSERT_EQ(done.exitCode, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("cRejected"));
  const json::value shown = node.runJson({"ledger", "show", "4"});
  EXPECT_THAT(canonicalJson(shown), HasSubstr("\"signature\":\""));
  EXPECT_THAT(node.run({"ledger", "verify", "--replay"}).out, StartsWith("ok 4 "));
  EXPECT_EQ(node.run({"person", "revoke", "human.lead", "--reason", "left"}).exitCode, 0);
  EXPECT_THAT(node.run({"person", "list"}).out, HasSubstr("revoked"));
  const auto gone = node.post("/v1/queue/decide", {{"domain", "moderation"},
                                                   {"entity", "post"},
                                                   {"decision", "reject"},
                                                   {"digest", std::string(64, '0')},
                                                   {"counselor", "human.lead"}});
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().message, HasSubstr("was revoked, and answers no more"));
  EXPECT_EQ(node.stop(), 0);
}

}  // namespace
}  // namespace witan::node::person_command_test
