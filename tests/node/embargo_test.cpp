// What is under embargo, a case's artifact and nonce, on every disk of every device: searched for in files as they lie
// there, in stores as their rows read, in transcripts, backups, logs and on screens. A text that is no secret and
// stands in the same case is found by the same search in every one of these places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/bytes.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "domains/agents.h"
#include "domains/disclosure/embargo_seal.h"
#include "store/rocks_store.h"
#include "tests/node/node_process.h"

namespace witan::node::embargo_test {
namespace {

namespace fs = std::filesystem;
using domains::disclosure::EmbargoSeal;
using test::Finished;
using test::Node;
using test::runWitan;
using test::Scratch;
using test::until;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kArtifact = "the heap of frobnicate overflows at byte 4711";
const std::string kNonce = toHex(sha256("a nonce that nobody guesses"));
const std::string kNoSecret = "credited to the laboratory of frobnicology";

json::object aCase(const std::string& v, const std::string& id = "disclosure/p/V-1/case") {
  return {{"id", id},
          {"type", "disclosure.case"},
          {"payload", json::object{{"portfolio", "p"},
                                   {"v", v},
                                   {"orgs", json::array{"o"}},
                                   {"maintainer", "m@o.org"},
                                   {"credits", json::array{kNoSecret}},
                                   {"artifact", kArtifact},
                                   {"nonce", kNonce}}}};
}
std::string payloadOf(const json::object& entry) { return canonicalJson(entry.at("payload")); }
const json::object kPortfolio{
    {"id", "disclosure/p/portfolio"}, {"type", "disclosure.portfolio"}, {"payload", json::object{{"portfolio", "p"}}}};

const char* const kAgents[] = {"disclosure-reports", "disclosure-patches", "disclosure-commitments",
                               "disclosure-publisher"};

// --- the search

// Every file below `dir`, and every row of every store in it, since a store may compress what it keeps.
std::string heldIn(const fs::path& dir) {
  std::string all;
  std::vector<fs::path> stores;
  for (const auto& file : fs::recursive_directory_iterator(dir)) {
    if (file.is_regular_file()) all += test::contentOf(file.path().string()) + "\n";
    if (file.path().filename() == "WITAN_FORMAT") stores.push_back(file.path().parent_path());
  }
  for (const fs::path& store : stores) {
    const auto opened = store::openRocksStore(store, {.createIfMissing = false});
    EXPECT_TRUE(opened.ok()) << store;
    if (!opened.ok()) continue;
    const Status read = (*opened)->scan("", "", [&](std::string_view key, std::string_view value) {
      all.append(key).append("\n").append(value).append("\n");
      return true;
    });
    EXPECT_TRUE(read.ok()) << store;
  }
  return all;
}

// What the journal and each transcript say to whoever asks for them.
std::string toldBy(const std::string& dir) {
  std::string all = runWitan({"journal", "list", "--json", "--dir", dir}).out;
  std::istringstream runs(runWitan({"episode", "list", "--dir", dir}).out);
  for (std::string line; std::getline(runs, line);)
    all += runWitan({"episode", "show", line.substr(0, line.find(' ')), "--dir", dir}).out;
  return all;
}

// Which parts of the secret are there: the texts and what follows from them, whole, and pieces of 12 bytes.
std::vector<std::string> secretsIn(const std::string& text) {
  const Hash digest = sha256(kArtifact), nonce = *hashFromHex(kNonce);
  std::vector<std::string> found;
  for (const std::string& secret : {kArtifact, toHex(asBytes(kArtifact)), kNonce, toHex(digest),
                                    std::string(asView(digest)), std::string(asView(nonce))})
    for (std::size_t at = 0; at + 12 <= secret.size(); at += 4)
      if (const std::string piece = secret.substr(at, 12); text.find(piece) != std::string::npos)
        found.push_back(piece);
  return found;
}

void expectSealed(const std::string& where, const std::string& text) {
  EXPECT_THAT(secretsIn(text), IsEmpty()) << where;
  EXPECT_NE(text.find(kNoSecret), std::string::npos) << where << ": the search finds nothing there at all";
}

TEST(Embargo, TheSearchFires) {
  const Scratch scratch;
  const std::string dir = scratch / "lab";
  ASSERT_EQ(runWitan({"device", "init", "--dir", dir}).exitCode, 0);
  // The same payload under a type that is not sealed.
  ASSERT_EQ(
      runWitan({"journal", "put", "n1", "--type", "note", "--json-payload", "-", "--dir", dir}, payloadOf(aCase("V-1")))
          .exitCode,
      0);
  for (const std::string& text : {heldIn(dir), toldBy(dir)}) {
    EXPECT_GE(secretsIn(text).size(), 20u);
    EXPECT_THAT(text, HasSubstr(kNoSecret));
  }
  EXPECT_THAT(secretsIn("... " + std::string(asView(sha256(kArtifact)))), ::testing::SizeIs(6));
}

// --- where it is looked for

std::string lineOn(const std::string& day, json::object entry, const json::object& more = {}) {
  entry["at"] = "2026-" + day + "T09:00:00Z";
  for (const auto& [name, value] : more) entry.at("payload").as_object()[name] = value;
  return canonicalJson(entry) + "\n";
}

Finished worked(const Scratch& scratch, const std::string& feed) {
  scratch.write("feed.jsonl", feed);
  std::vector<std::string> words{"agent", "run", "--dir", scratch / "lab", "--feed", scratch / "feed.jsonl"};
  for (const char* agent : kAgents) words.insert(words.end(), {"--agent", agent});
  return runWitan(words);
}

TEST(Embargo, TheSecretIsNowhereBeforeItsDayAndOpenedOnIt) {
  const Scratch scratch;
  const std::string dir = scratch / "lab";
  const json::object about = aCase("V-1"), known{{"acknowledged", true}};
  const std::string before = lineOn("01-01", kPortfolio) + lineOn("01-02", about) + lineOn("01-05", about, known);
  const Finished ran = worked(scratch, before);
  ASSERT_EQ(ran.exitCode, 0) << ran.out << ran.err;
  const std::string told = toldBy(dir);
  expectSealed("stores", heldIn(dir));
  expectSealed("transcripts and journal", told);
  EXPECT_THAT(secretsIn(ran.out + ran.err), IsEmpty());
  EXPECT_THAT(told, HasSubstr("PublishCommitment")) << "it was committed to";

  // Entered again by hand it is the same entry; by whichever way it is sealed.
  json::object again = about.at("payload").as_object();
  again["acknowledged"] = true;
  const std::vector<std::string> put{
      "journal", "put", "disclosure/p/V-1/case", "--type", "disclosure.case", "--json-payload", "-", "--dir", dir};
  EXPECT_THAT(runWitan(put, canonicalJson(again)).out, HasSubstr("says that already"));
  EXPECT_THAT(runWitan({"journal", "import", "-", "--dir", dir}, canonicalJson(aCase("V-1", "other")) + "\n").out,
              HasSubstr("1 imported"));
  expectSealed("stores after an import", heldIn(dir));

  // Its day: the commitment is opened to all, and only now the search finds something: never the artifact.
  const Finished disclosed =
      worked(scratch, before + lineOn("03-01", about, {{"acknowledged", true}, {"publiclyKnown", true}}));
  ASSERT_EQ(disclosed.exitCode, 0) << disclosed.out << disclosed.err;
  const std::string after = heldIn(dir) + toldBy(dir);
  EXPECT_THAT(after, HasSubstr(kNonce));
  EXPECT_THAT(after, HasSubstr(toHex(sha256(kArtifact))));
  EXPECT_EQ(after.find(kArtifact.substr(0, 12)), std::string::npos);
  EXPECT_THAT(after, HasSubstr("ExecuteDisclosure"));
  std::istringstream runs(runWitan({"episode", "list", "--dir", dir}).out);
  for (std::string line; std::getline(runs, line);)
    EXPECT_THAT(runWitan({"episode", "replay", line.substr(0, line.find(' ')), "--dir", dir}).out,
                HasSubstr("reproduced byte for byte"));
}

// Two devices that run: entered on one by each way that there is, worked on the other, copied, and searched.
TEST(Embargo, TheSecretIsOnNoDeviceInNoBackupAndNoLog) {
  const Scratch scratch;
  Node lab(scratch, "lab"), office(scratch, "office");
  std::vector<std::string> working;
  for (const char* agent : kAgents) working.insert(working.end(), {"--agent", agent});
  ASSERT_EQ(lab.init(4).exitCode, 0);
  ASSERT_TRUE(lab.up(working)) << lab.log();
  ASSERT_TRUE(test::enrol(lab, office)) << office.log();
  for (const json::object& entry : {kPortfolio, aCase("V-1")}) {
    const auto posted = office.post("/v1/feed", entry);
    ASSERT_TRUE(posted.ok()) << posted.error().message;
  }
  // A file can be given to a directory at rest only.
  ASSERT_EQ(office.stop(), 0);
  const json::object second = aCase("V-2", "disclosure/p/V-2/case"), third = aCase("V-3", "disclosure/p/V-3/case");
  ASSERT_EQ(runWitan({"journal", "put", "disclosure/p/V-2/case", "--type", "disclosure.case", "--json-payload", "-",
                      "--dir", office.dir()},
                     payloadOf(second))
                .exitCode,
            0);
  ASSERT_EQ(runWitan({"journal", "import", "-", "--dir", office.dir()}, canonicalJson(third) + "\n").exitCode, 0);
  ASSERT_TRUE(office.up()) << office.log();
  const auto committed = [](const Node& node) {
    const std::string told = node.run({"ledger", "tail", "-n", "0", "--domain", "disclosure"}).out;
    std::size_t times = 0;
    for (auto at = told.find("PublishCommitment"); at != std::string::npos; at = told.find("PublishCommitment", at + 1))
      ++times;
    return times;
  };
  EXPECT_TRUE(until([&] { return committed(lab) == 3 && committed(office) == 3; })) << lab.log();
  for (Node* node : {&lab, &office}) {
    expectSealed(node->name() + " at work", toldBy(node->dir()));
    ASSERT_EQ(node->run({"backup", "--to", scratch / (node->name() + "-backup")}).exitCode, 0);
    EXPECT_EQ(node->stop(), 0);
    expectSealed(node->name(), heldIn(node->dir()));
    expectSealed("the backup of " + node->name(), heldIn(scratch / (node->name() + "-backup")));
    EXPECT_THAT(secretsIn(node->log()), IsEmpty());
  }
}

// --- the seal

TEST(EmbargoSeal, OpensForItsCaseAndItsClusterOnly) {
  const EmbargoSeal ours(agents::sharedKey("key")), theirs(agents::sharedKey("another key"));
  const std::string clear = R"({"artifact":"a","nonce":"n","portfolio":"p","v":"V-1"})";
  const std::string kept = *ours.sealed(clear);
  EXPECT_EQ(kept, *ours.sealed(clear)) << "entering it again changes nothing";
  EXPECT_EQ(canonicalJson(*ours.opened(*parseJson(kept))), clear);
  EXPECT_EQ(*domains::contentSeals(agents::sharedKey("key")).sealed("note", clear), clear);
  EXPECT_EQ(*ours.sealed(kept), kept);
  json::value other = *parseJson(kept);
  other.as_object()["v"] = "V-2";
  json::value cut = *parseJson(kept);
  cut.as_object()["sealed"] = "00";
  json::value both = *parseJson(kept);
  both.as_object()["artifact"] = "a";
  EXPECT_THAT(ours.opened(other).error().message, HasSubstr("does not open here"));
  EXPECT_THAT(ours.opened(cut).error().message, HasSubstr("does not open here"));
  EXPECT_THAT(theirs.opened(*parseJson(kept)).error().message, HasSubstr("does not open here"));
  EXPECT_THAT(EmbargoSeal().opened(*parseJson(kept)).error().message, HasSubstr("does not open here"));
  EXPECT_THAT(ours.opened(*parseJson(clear)).error().message, HasSubstr("stands in the clear"));
  EXPECT_THAT(ours.sealed(canonicalJson(both)).error().message, HasSubstr("and a sealed one"));
  EXPECT_THAT(EmbargoSeal().sealed(clear).error().message, HasSubstr("no key"));
}

// One nonce of the cipher never serves two texts: nothing in common where nothing is in common.
TEST(EmbargoSeal, TwoCasesOfOneSecretLookDifferent) {
  const EmbargoSeal seal(agents::sharedKey("key"));
  const auto sealedOf = [&](const json::object& entry) {
    const std::string kept = *seal.sealed(payloadOf(entry));
    return std::string(parseJson(kept)->at("sealed").as_string());
  };
  const std::string one = sealedOf(aCase("V-1")), two = sealedOf(aCase("V-2"));
  EXPECT_EQ(one.size(), two.size());
  EXPECT_NE(one.substr(0, 24), two.substr(0, 24));
  EXPECT_NE(one.substr(24), two.substr(24));
}

}  // namespace
}  // namespace witan::node::embargo_test
