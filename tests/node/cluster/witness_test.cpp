// Witnesses outside of a cluster: what they cosign and what they refuse (C2SP tlog-witness), and a node whose whole
// directory goes back.
#include "node/witness/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "node/witness/witness_rounds.h"
#include "tests/node/node_process.h"

namespace witan::node::witness_test {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Time kNow{1'700'000'000'000'000};
constexpr const char* kOrigin = "example.org/log";

SigningKey keyOf(char letter) { return *SigningKey::fromSeed(std::string(32, letter)); }

struct Witnessing : ::testing::Test {
  Witness open(const std::string& remembered = {}) {
    std::vector<kernel::NoteVerifier> logs{*kernel::makeNoteVerifier(kOrigin, keyOf('l').publicKey()),
                                           *kernel::makeNoteVerifier("witan/c/dev", keyOf('d').publicKey())};
    return *Witness::open({"w.example", keyOf('w')}, logs, remembered, [this](std::string_view text) -> Status {
      if (full) return ioFailed("the disk is full");
      kept = text;
      return okStatus();
    });
  }
  // The tree of the first `size` entries.
  static kernel::MemoryTree treeOf(std::uint64_t size, const std::string& mark = "") {
    kernel::MemoryTree tree;
    for (std::uint64_t n = 0; n < size; ++n) tree.append(kernel::leafHash(mark + std::to_string(n)));
    return tree;
  }
  static std::string noteOf(std::uint64_t size, const std::string& mark = "", char key = 'l',
                            const std::string& origin = kOrigin) {
    const kernel::Checkpoint head{origin, size, treeOf(size, mark).root(), {}};
    const kernel::NoteSigner signer{key == 'd' ? "witan/c/dev" : origin, keyOf(key)};
    return *kernel::signNote(*kernel::checkpointText(head), {&signer, 1});
  }
  Witness::Answer ask(std::uint64_t old, std::uint64_t size, const std::string& note) {
    const auto proof = *kernel::consistencyProof(old, size, treeOf(size));
    return witness.addCheckpoint(addCheckpointBody(old, proof, note), kNow);
  }

  bool full = false;
  std::string kept;
  Witness witness = open();
};

TEST_F(Witnessing, EachCheckpointThatExtendsTheLastIsCosigned) {
  std::uint64_t old = 0;
  for (const std::uint64_t size : {1, 3, 3, 8, 200}) {
    const std::string note = noteOf(size);
    const Witness::Answer answer = ask(old, size, note);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto verifier =
        kernel::makeNoteVerifier("w.example", keyOf('w').publicKey(), kernel::NoteKeyType::cosignature);
    const auto opened = kernel::openCheckpoint(note + answer.body, kOrigin, {&*verifier, 1});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened->checkpoint.size, old = size);
  }
  EXPECT_EQ(witness.logs(), 1u);
}

TEST_F(Witnessing, NothingElseIs) {
  ASSERT_EQ(ask(0, 5, noteOf(5)).status, 200);
  const Witness::Answer behind = ask(3, 8, noteOf(8));
  EXPECT_EQ(behind.status, 409);
  EXPECT_EQ(behind.body, "5\n");
  EXPECT_EQ(behind.contentType, "text/x.tlog.size");
  EXPECT_EQ(ask(0, 8, noteOf(8)).status, 409) << "as if it knew nothing";
  EXPECT_EQ(ask(5, 5, noteOf(5, "other")).status, 409) << "two trees of one size";
  EXPECT_EQ(ask(5, 8, noteOf(8, "other")).status, 422) << "another tree";
  EXPECT_EQ(witness.addCheckpoint(addCheckpointBody(5, {}, noteOf(8)), kNow).status, 422) << "no proof";
  EXPECT_EQ(witness.addCheckpoint(addCheckpointBody(5, {}, noteOf(3)), kNow).status, 400) << "it went back";
  EXPECT_EQ(ask(5, 8, noteOf(8, "", 'x')).status, 403) << "another key";
  EXPECT_EQ(ask(0, 8, noteOf(8, "", 'l', "example.org/else")).status, 404);
  for (const std::string& body : {std::string(), std::string("old 05\n\n"), std::string("old 5\nnonsense\n\n"),
                                  std::string("old 99999999999999999999\n\n"), std::string("old 5\n"),
                                  "old 5\n\n" + std::string(kMaxAddCheckpoint, 'x')})
    EXPECT_THAT(witness.addCheckpoint(body, kNow).status, ::testing::AnyOf(400, 404)) << body.substr(0, 40);
  std::string many = "old 5\n";
  for (int n = 0; n < 64; ++n) many += std::string(43, 'A') + "=\n";
  EXPECT_EQ(witness.addCheckpoint(many + "\n" + noteOf(8), kNow).status, 400);
  EXPECT_EQ(ask(5, 8, noteOf(8)).status, 200) << "none of them did any harm";
}

TEST_F(Witnessing, WhatItCannotRememberItDoesNotSign) {
  full = true;
  EXPECT_EQ(ask(0, 5, noteOf(5)).status, 500);
  full = false;
  EXPECT_EQ(ask(0, 3, noteOf(3)).status, 200) << "the refused one does not count";
}

TEST_F(Witnessing, ItRemembersAcrossARestart) {
  ASSERT_EQ(ask(0, 5, noteOf(5)).status, 200);
  witness = open(kept);
  EXPECT_EQ(ask(0, 6, noteOf(6)).body, "5\n");
  EXPECT_EQ(ask(5, 6, noteOf(6)).status, 200);
  for (const char* damaged : {"5 aa log\n",
                              "x "
                              "00 log\n",
                              "5\n"})
    EXPECT_FALSE(Witness::open({"w.example", keyOf('w')}, {}, damaged, {}).ok()) << damaged;
  for (std::size_t n = 1; n < kept.size(); ++n)
    EXPECT_FALSE(Witness::open({"w.example", keyOf('w')}, {}, kept.substr(0, n), {}).ok()) << n;
  const std::string lines = kept.substr(kept.find('\n') + 1);
  for (const std::string& without : {lines, lines + lines})
    EXPECT_FALSE(Witness::open({"w.example", keyOf('w')}, {}, without, {}).ok()) << "the first line";
}

// One key cannot take the room of the others. Names of no form are no logs.
TEST_F(Witnessing, EachKeyHasItsShare) {
  SignedSizes sizes;
  for (std::size_t n = 0; n < kMaxWitnessedLogs / 2; ++n)
    sizes[concat("witan/c/budget/0/", n, "/dev@00000001")] = {0, kernel::emptyRoot()};
  witness = open(signedSizesText(sizes));
  const Witness::Answer more = ask(0, 2, noteOf(2, "", 'd', "witan/c/budget/1/1/dev@00000001"));
  EXPECT_EQ(more.status, 503);
  EXPECT_THAT(more.body, HasSubstr("witan/c/dev has its share"));
  EXPECT_EQ(ask(0, 5, noteOf(5)).status, 200);
  for (const char* origin : {"witan/c/budget/0/01/dev@00000001", "witan/c/budget/01/1/dev@00000001",
                             "witan/c/../0/1/dev@00000001", "witan/c/b\u202ex/0/1/dev@00000001"})
    EXPECT_EQ(ask(0, 2, noteOf(2, "", 'd', origin)).status, 404) << origin;
}

// A device signs the epochs that it owns, and no other's.
TEST_F(Witnessing, ADevicesKeyIsForItsOwnEpochs) {
  EXPECT_EQ(ask(0, 2, noteOf(2, "", 'd', "witan/c/budget/0/1/dev@00000001")).status, 200);
  EXPECT_EQ(ask(0, 2, noteOf(2, "", 'd', "witan/c/budget/0/2/dev@00000002")).status, 200);
  for (const char* origin : {"witan/c/budget/0/1/other@00000001", "witan/x/budget/0/1/dev@00000001", "witan/c/dev/1"})
    EXPECT_EQ(ask(0, 2, noteOf(2, "", 'd', origin)).status, 404) << origin;
}

TEST(WitnessConfiguration, AsManyKeysAsAddressesAndOfWitnesses) {
  const auto text = [](char key, kernel::NoteKeyType type) {
    return kernel::verifierKeyText(*kernel::makeNoteVerifier(std::string("w.") + key, keyOf(key).publicKey(), type));
  };
  const std::string one = text('a', kernel::NoteKeyType::cosignature),
                    two = text('b', kernel::NoteKeyType::cosignature);
  EXPECT_TRUE(checkWitnesses({{"http://a:1", "http://b:1"}, {one, two}, 2}).ok());
  EXPECT_FALSE(checkWitnesses({{"http://a:1"}, {one, two}, 1}).ok());
  EXPECT_FALSE(checkWitnesses({{"http://a:1", "http://b:1"}, {one, one}, 1}).ok()) << "one twice";
  EXPECT_FALSE(checkWitnesses({{"http://a:1"}, {one}, 2}).ok());
  EXPECT_FALSE(checkWitnesses({{"http://a:1"}, {one}, 0}).ok());
  EXPECT_FALSE(checkWitnesses({{"a:1"}, {one}, 1}).ok());
  EXPECT_FALSE(checkWitnesses({{"http://a:1"}, {text('a', kernel::NoteKeyType::signature)}, 1}).ok());
}

// A sole device, and everything of it goes back to yesterday: nothing on it shows that.
TEST(WitnessedNode, WhoseDirectoryWentBackIsFoundOut) {
  const Scratch scratch;
  Node node(scratch, "node");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.stop(), 0);
  const std::string address = freeAddress();
  const std::vector<std::string> words{
      witan::tests::kProgram,     "witness", "--dir", scratch / "w", "--listen", address, "--name", "w.test", "--log",
      node.dir() + "/device.vkey"};
  std::optional<Process> witness;
  witness.emplace(words, scratch / "w.log");
  ASSERT_TRUE(until([&] { return contentOf(scratch / "w.log").find("http://") != std::string::npos; }));
  EXPECT_THAT(runWitan({words.begin() + 1, words.end()}).err, HasSubstr("in use by another witness"));
  std::string key = contentOf(scratch / "w/witness.vkey");
  key.pop_back();
  std::string config = contentOf(node.dir() + "/witan.toml");
  const auto set = [&](const std::string& name, const std::string& value) {
    const std::size_t at = config.find("\n" + name + " = []");
    ASSERT_NE(at, config.npos) << config;
    config.replace(at, name.size() + 6, "\n" + name + " = [\"" + value + "\"]");
  };
  set("url", "http://" + address);
  set("vkey", key);
  scratch.write("node/witan.toml", config);
  const auto spend = [&] {
    return node.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})"}).exitCode;
  };
  const auto cosigned = [&] {
    return until([&] { return node.run({"status"}).out.find("witnesses have cosigned") != std::string::npos; });
  };
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(spend(), 0);
  ASSERT_TRUE(cosigned()) << node.log();
  ASSERT_EQ(node.stop(), 0);
  fs::copy(node.dir(), scratch / "yesterday", fs::copy_options::recursive);
  ASSERT_TRUE(node.up()) << node.log();
  for (int n = 0; n < 2; ++n) ASSERT_EQ(spend(), 0);
  ASSERT_TRUE(until([&] { return node.run({"ledger", "checkpoint"}).out.find("\n3\n") != std::string::npos; }));
  ASSERT_TRUE(cosigned()) << node.log();

  // A stranger, with the keys of the device and of the witness.
  const std::string note = node.run({"ledger", "checkpoint"}).out;
  EXPECT_THAT(note, HasSubstr("\n\u2014 w.test "));
  scratch.write("note", note);
  scratch.write("export", node.run({"ledger", "export"}).out);
  const std::vector<std::string> verify{
      "ledger", "verify",   "--export", scratch / "export",          "--checkpoint", scratch / "note", "--require",
      "2",      "--signed", "--vkey",   node.dir() + "/device.vkey", "--vkey"};
  std::vector<std::string> with = verify, without = verify;
  with.push_back(scratch / "w/witness.vkey"), without.push_back(node.dir() + "/device.vkey");
  EXPECT_THAT(runWitan(with).out, StartsWith("ok 3 "));
  EXPECT_NE(runWitan(without).exitCode, 0);

  ASSERT_EQ(node.stop(), 0);
  witness->end(SIGTERM);
  // Without its memory, or with half of it, or without what says how much that is, it does not start.
  const std::string sizes = contentOf(scratch / "w/witness.sizes");
  for (const std::string& left :
       {std::string(), sizes.substr(0, sizes.size() - 90), sizes.substr(sizes.find('\n') + 1)}) {
    scratch.write("w/witness.sizes", left);
    const Finished refused = runWitan({words.begin() + 1, words.end()});
    EXPECT_NE(refused.exitCode, 0);
    EXPECT_THAT(refused.err, HasSubstr("witness.sizes"));
  }
  fs::remove(scratch / "w/witness.sizes");
  EXPECT_THAT(runWitan({words.begin() + 1, words.end()}).err, HasSubstr("witness.sizes is missing"));
  scratch.write("w/witness.sizes", sizes);
  fs::rename(scratch / "w/witness.key", scratch / "w/moved");
  EXPECT_THAT(runWitan({words.begin() + 1, words.end()}).err, HasSubstr("witness.key is missing"));
  fs::rename(scratch / "w/moved", scratch / "w/witness.key");
  // Nor under another key than the one that clusters count.
  const std::string vkey = contentOf(scratch / "w/witness.vkey");
  scratch.write("w/witness.vkey", contentOf(node.dir() + "/device.vkey"));
  EXPECT_THAT(runWitan({words.begin() + 1, words.end()}).err, HasSubstr("is not the key of witness.vkey"));
  scratch.write("w/witness.vkey", vkey);
  fs::remove_all(node.dir());
  fs::copy(scratch / "yesterday", node.dir(), fs::copy_options::recursive);
  witness.emplace(words, scratch / "w.log");  // it remembers
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_TRUE(until([&] {
    return node.run({"incident", "list"}).out.find("has cosigned 3 entries of budget/0 that are not here") !=
           std::string::npos;
  })) << node.log()
      << contentOf(scratch / "w.log") << witness->running() << contentOf(scratch / "w/witness.sizes");
  // It decides nothing that would contradict its word, until an operator begins another epoch.
  EXPECT_TRUE(until([&] {
    return node.run({"status"}).out.find("witan partition seize budget/0") != std::string::npos;
  })) << node.run({"status"}).out;
  EXPECT_NE(node.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})", "--wait", "1s"}).exitCode, 0);
  ASSERT_EQ(node.run({"partition", "seize", "budget/0", "--reason", "its disk went back"}).exitCode, 0) << node.log();
  ASSERT_EQ(spend(), 0);
  EXPECT_TRUE(cosigned()) << node.log();
  EXPECT_EQ(node.stop(), 0);
}

}  // namespace
}  // namespace witan::node::witness_test
