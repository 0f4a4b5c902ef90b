// `witan inbox`: what waits for a person, what each answer would do, and the answer.
#include <gtest/gtest.h>

#include <array>

#include "agents/memory/compactor.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/merkle.h"
#include "kernel/record/signed_note.h"
#include "net/http_message.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "replication/records/record_write.h"
#include "tests/node/node_process.h"

namespace witan::node::inbox_test {
namespace {

using test::Node;
using test::Scratch;

const char* const kBan = R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"p1","evidence":["L1"]})";

// A ban that waits for a human, on a running node.
class InboxOfANode : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(node_.init(1).exitCode, 0);
    ASSERT_TRUE(node_.up()) << node_.log();
    ASSERT_EQ(node_.run({"begin", "moderation", "L"}).exitCode, 0);
    propose("SignalTriage",
            R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule v2"})");
    propose("UserNotice",
            R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"a post","clause":"4.2","redress":"appeal"})");
    ASSERT_EQ(node_.run({"propose", "moderation", "L", "Enforcement", kBan, "--operation-id", "ban-1"}).exitCode, 0);
  }
  void propose(const char* role, const char* action) {
    ASSERT_EQ(node_.run({"propose", "moderation", "L", role, action}).exitCode, 0);
  }
  json::value only() const {
    const json::value inbox = node_.runJson({"inbox"});
    EXPECT_EQ(inbox.at("waiting"), 1);
    return inbox.at("items").at(0);
  }

  const Scratch scratch_;
  Node node_{scratch_, "a", "\n"};
};

TEST_F(InboxOfANode, SaysWhatEachAnswerWouldDo) {
  const json::value item = only();
  EXPECT_EQ(item.at("kind"), "proposal");
  EXPECT_EQ(item.at("subject"), "L");
  ASSERT_EQ(item.at("choices").as_array().size(), 2u);
  EXPECT_EQ(item.at("choices").at(0).at("choice"), "commit");
  EXPECT_EQ(item.at("choices").at(0).at("unsafe"), true);
  EXPECT_EQ(item.at("choices").at(1).at("unsafe"), false);
  EXPECT_EQ(node_.run({"inbox", std::string(item.at("id").as_string()), "--kind", "approval"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.runJson({"inbox", "--kind", "approval"}).at("waiting"), 0);
}

TEST_F(InboxOfANode, TakesTheAnswerOnceAndWithAName) {
  const std::string id(only().at("id").as_string());
  EXPECT_EQ(node_.run({"inbox", id, "reject"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "commit", "--by", "human.lead"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "shrug", "--by", "human.lead"}).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"inbox", id, "commit", "--by", "a stranger", "--unsafe"}).exitCode, kExitFailed);
  const json::value made =
      node_.runJson({"inbox", id.substr(id.find(':') + 1), "reject", "--by", "human.lead", "--reason", "no evidence"});
  EXPECT_EQ(made.at("outcome"), "cRejected");
  EXPECT_EQ(node_.runJson({"inbox"}).at("waiting"), 0);
  EXPECT_EQ(node_.run({"inbox", id, "reject", "--by", "human.lead"}).exitCode, kExitFailed);
  // Whoever proposed asks again, under the same operation id: the answer has the decision that followed.
  const json::value again =
      node_.runJson({"propose", "moderation", "L", "Enforcement", kBan, "--operation-id", "ban-1"});
  EXPECT_EQ(again.at("outcome"), "escalated");
  EXPECT_EQ(again.at("resolved").at("outcome"), "cRejected");
  EXPECT_EQ(again.at("resolved").at("counselor"), "human.lead");
}

TEST_F(InboxOfANode, ListsPageByPage) {
  const json::value page = node_.get("/v1/inbox?limit=0");
  EXPECT_EQ(page.at("waiting"), 1);
  EXPECT_EQ(page.at("items").as_array().size(), 0u);
  const std::string id(only().at("id").as_string());
  EXPECT_EQ(node_.get("/v1/inbox?item=" + net::percentEncoded(id)).at("items").as_array().size(), 1u);
  EXPECT_EQ(node_.get("/v1/inbox?item=nothing").at("items").as_array().size(), 0u);
  EXPECT_EQ(node_.get("/v1/inbox?after=nonsense"), nullptr);
  EXPECT_EQ(node_.get("/v1/inbox?after=" + net::percentEncoded("0 " + id)).at("items").as_array().size(), 0u);
}

// The chain from the ledger back to the person who asked.
TEST_F(InboxOfANode, WhyAnEntryIsThere) {
  const std::string id(only().at("id").as_string());
  const json::value why = node_.runJson({"why", "moderation/L"});
  const json::array& links = why.at("links").as_array();
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].at("kind"), "person");
  EXPECT_EQ(links[1].at("kind"), "decision");
  EXPECT_EQ(links[1].at("detail").at("outcome"), "escalated");
  EXPECT_EQ(links[1].at("what").as_string().find("   "), json::string::npos) << links[1].at("what").as_string();
  // An entry of the journal under the same name hides nothing of it, and its author is what somebody typed.
  ASSERT_EQ(
      node_.run({"journal", "put", "moderation/L", "--type", "note", "--text", "hi", "--author", "clerk"}).exitCode, 0);
  const json::value both = node_.runJson({"why", "moderation/L"});
  std::vector<std::string> kinds;
  for (const json::value& link : both.at("links").as_array()) kinds.emplace_back(link.at("kind").as_string());
  EXPECT_EQ(kinds, (std::vector<std::string>{"person", "decision", "person", "version"}));
  EXPECT_EQ(both.at("links").at(2).at("what"), "written as clerk, by device a");
  EXPECT_EQ(node_.run({"why", "moderation/nothing"}).exitCode, kExitFailed);
}

// The chain leaves the device under its signature, and says so elsewhere, without any node.
TEST_F(InboxOfANode, WhyIsExportedAsSignedEvidence) {
  const std::string file = scratch_ / "why.signed", vkey = node_.dir() + "/device.vkey";
  test::Finished told;  // the owner signs the newest entries a moment later
  ASSERT_TRUE(test::until([&] {
    told = node_.run({"why", "moderation/L", "--json", "--signed", file});
    return told.exitCode == 0;
  })) << told.err;
  const auto check = [&](const std::string& what, const std::string& key) {
    return test::runWitan({"why", "--check", what, "--vkey", key, "--json"});
  };
  const test::Finished held = check(file, vkey);
  ASSERT_EQ(held.exitCode, 0) << held.err;
  EXPECT_EQ(held.out, told.out);
  // Another text, another key, a signature of the same key about something else.
  std::string changed = test::contentOf(file);
  const std::size_t at = changed.find("escalated");
  ASSERT_NE(at, std::string::npos);
  changed.replace(at, 9, "approved!");
  scratch_.write("changed", changed);
  EXPECT_EQ(check(scratch_ / "changed", vkey).exitCode, kExitFailed);
  Node other(scratch_, "b", "\n");
  ASSERT_EQ(other.init(1).exitCode, 0);
  ASSERT_TRUE(other.up()) << other.log();
  EXPECT_EQ(check(file, other.dir() + "/device.vkey").exitCode, kExitFailed);
  scratch_.write("head", node_.run({"ledger", "checkpoint", "--domain", "moderation"}).out);
  EXPECT_EQ(check(scratch_ / "head", vkey).exitCode, kExitFailed);
  EXPECT_EQ(test::runWitan({"why", "--check", file}).exitCode, kExitUsage);
  EXPECT_EQ(test::runWitan({"why"}).exitCode, kExitUsage);
  // A file that is there is replaced if that is wanted.
  EXPECT_EQ(node_.run({"why", "moderation/L", "--signed", scratch_ / "head"}).exitCode, kExitFailed);
  EXPECT_EQ(check(scratch_ / "head", vkey).exitCode, kExitFailed);
  EXPECT_EQ(node_.run({"why", "moderation/L", "--signed", scratch_ / "head", "--force"}).exitCode, 0);
  EXPECT_EQ(check(scratch_ / "head", vkey).exitCode, 0);
}

// The device signs the chain, and answers for it; its entries of ledgers are proven by themselves. A device that signs
// another chain, or other proofs, is found out without a node.
TEST_F(InboxOfANode, AChainsEntriesAreProvenUnderSignedHeads) {
  const std::string file = scratch_ / "why.signed", vkey = node_.dir() + "/device.vkey";
  ASSERT_TRUE(test::until([&] { return node_.run({"why", "moderation/L", "--signed", file}).exitCode == 0; }));
  ASSERT_EQ(node_.stop(), 0);
  const std::string note = test::contentOf(file), text = note.substr(0, note.find("\n\n") + 1);
  const std::size_t first = text.find('\n') + 1, second = text.find('\n', first) + 1;
  const json::value chain = *parseJson(text.substr(first, second - first - 1), kOwnJson);
  const json::value proofs = *parseJson(text.substr(second), kOwnJson);
  const std::string name = text.substr(12, text.find(' ', 12) - 12);
  const SigningKey key = *readKey(node_.dir(), KeyName::device);
  // Signed anew.
  const auto holds = [&](const json::value& told, const json::value& proven) {
    const std::string made = concat(text.substr(0, first), canonicalJson(told), "\n", canonicalJson(proven), "\n");
    scratch_.write("anew", *kernel::signNote(made, std::array{kernel::NoteSigner{name, key}}));
    return test::runWitan({"why", "--check", scratch_ / "anew", "--vkey", vkey}).exitCode == 0;
  };
  ASSERT_TRUE(holds(chain, proofs));
  ASSERT_EQ(chain.at("links").as_array().size(), 2u);
  for (const auto& [member, other] : {std::pair("/links/1/detail/leaf", json::value(std::string(64, '0'))),
                                      {"/links/1/detail/outcome", "approved"},
                                      {"/links/1/detail/operationId", "ban-2"},
                                      {"/links/1/at", "2026-01-01T00:00:00Z"},
                                      {"/links/1/id", "moderation/0:2"}}) {
    json::value changed = chain;
    ASSERT_NE(changed.at_pointer(member), other);
    changed.at_pointer(member) = other;
    EXPECT_FALSE(holds(changed, proofs)) << member;
  }
  const auto turned = [](std::string value, std::size_t at) {
    value[at] = value[at] == 'a' ? 'b' : 'a';
    return json::value(value);
  };
  const std::string bytes(proofs.at("entries").at(0).at("bytes").as_string());
  const std::string head(proofs.at("heads").at("moderation/0").as_string());
  const std::string step(proofs.at("entries").at(0).at("path").at(0).as_string());
  for (const auto& [member, other] : {std::pair("/entries/0/bytes", turned(bytes, bytes.size() / 2)),
                                      {"/entries/0/path/0", turned(step, 7)},
                                      {"/entries/0/path", json::array{}},
                                      {"/heads/moderation~10", turned(head, head.find('\n') + 1)},
                                      {"/heads/moderation~10", turned(head, head.size() - 9)},
                                      {"/heads/moderation~10", json::value("")},
                                      {"/heads", json::object{}},
                                      {"/entries", json::array{}}}) {
    json::value changed = proofs;
    changed.at_pointer(member) = other;
    EXPECT_FALSE(holds(chain, changed)) << member;
  }
  // Another owner's log, another cluster's, and a cosignature alone: under heads that this device's key signed.
  const kernel::Checkpoint good = *kernel::parseCheckpointText(head.substr(0, head.find("\n\n") + 1));
  const auto under = [&](const std::string& origin, bool cosigned) {
    kernel::Checkpoint other = good;
    other.origin = origin;
    const std::string made = *kernel::checkpointText(other);
    const kernel::NoteSigner signer{name, key};
    json::value changed = proofs;
    changed.at_pointer("/heads/moderation~10") =
        cosigned ? concat(made, "\n", kernel::cosignatureLine(made, signer, Time{1'774'252'800'000'000}))
                 : *kernel::signNote(made, std::array{signer});
    return holds(chain, changed);
  };
  EXPECT_TRUE(under(good.origin, false));
  EXPECT_FALSE(under(good.origin, true));
  const std::size_t owner = good.origin.rfind('/') + 1, cluster = good.origin.find('/') + 1;
  EXPECT_FALSE(under(good.origin.substr(0, owner) + std::string(32, 'a') + good.origin.substr(owner + 32), false));
  EXPECT_FALSE(under(std::string(good.origin).replace(cluster + 2, 32, std::string(32, '0')), false));
  // The owner alters an entry: its proposer has signed another one.
  std::string altered = *fromBase64(bytes);
  ASSERT_NE(altered.find("ban-1"), std::string::npos);
  altered.replace(altered.find("ban-1"), 5, "ban-2");
  const std::string id(chain.at("links").at(1).at("id").as_string());
  std::uint64_t at = std::stoull(id.substr(id.rfind(':') + 1)) - 1, last = good.size - 1;
  Hash root = kernel::leafHash(altered);
  for (const json::value& hex : proofs.at("entries").at(0).at("path").as_array()) {  // RFC 9162, section 2.1.3.2
    const Hash beside = *hashFromHex(hex.as_string());
    const bool right = at % 2 == 1 || at == last;
    root = right ? kernel::nodeHash(beside, root) : kernel::nodeHash(root, beside);
    while (right && at % 2 == 0 && at > 0) at /= 2, last /= 2;
    at /= 2, last /= 2;
  }
  kernel::Checkpoint other = good;
  other.root = root;
  json::value told = chain, forged = proofs;
  told.at_pointer("/links/1/detail/operationId") = "ban-2";
  told.at_pointer("/links/1/detail/leaf") = toHex(kernel::leafHash(altered));
  forged.at_pointer("/entries/0/bytes") = toBase64(altered);
  forged.at_pointer("/heads/moderation~10") =
      *kernel::signNote(*kernel::checkpointText(other), std::array{kernel::NoteSigner{name, key}});
  EXPECT_FALSE(holds(told, forged));
  EXPECT_THAT(test::runWitan({"why", "--check", scratch_ / "anew", "--vkey", vkey}).err,
              ::testing::HasSubstr("proposer"));
}

// A program is told of the ban, and of nothing twice, also after a restart.
TEST(InboxHooks, ACommandIsToldOnceOfWhatWaits) {
  const Scratch scratch;
  const std::string told = scratch / "told.jsonl";
  Node node(scratch, "a", "[hook.file]\ncommand = [\"sh\", \"-c\", \"cat >> " + told + "\"]\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "moderation", "L"}).exitCode, 0);
  for (const auto& [role, action] :
       {std::pair("SignalTriage",
                  R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule v2"})"),
        std::pair(
            "UserNotice",
            R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"a post","clause":"4.2","redress":"appeal"})"),
        std::pair("Enforcement", kBan)})
    ASSERT_EQ(node.run({"propose", "moderation", "L", role, action}).exitCode, 0);
  ASSERT_TRUE(test::until([&] { return test::contentOf(told).find('\n') != std::string::npos; })) << node.log();
  const json::value line = *parseJson(test::contentOf(told));
  EXPECT_EQ(line.at("kind"), "proposal");
  EXPECT_EQ(line.at("id"), node.runJson({"inbox"}).at("items").at(0).at("id"));
  ASSERT_TRUE(test::until([&] { return node.runJson({"inbox"}).at("waiting") == 1; }));
  ASSERT_EQ(node.stop(), 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"inbox", std::string(line.at("id").as_string()), "reject", "--by", "human.lead"}).exitCode, 0);
  const std::string all = test::contentOf(told);
  EXPECT_EQ(std::ranges::count(all, '\n'), 1) << all;
}

// What a run of a graph asks is told too: once, and its row goes with the answer.
TEST(InboxHooks, ACommandIsToldWhatARunOfAGraphAsks) {
  const Scratch scratch;
  const std::string told = scratch / "told.jsonl", examples = std::string(tests::kSourceDir) + "/docs/examples/";
  Node node(scratch, "a", "[hook.file]\nkinds = [\"question\"]\ncommand = [\"sh\", \"-c\", \"cat >> " + told + "\"]\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  std::filesystem::copy_file(examples + "graphs-policy.toml", node.dir() + "/policy.toml");
  scratch.write("urgent.jsonl",
                R"({"ingress":"referrals","id":"r-1","body":{"patient":"p1","urgency":"urgent","text":"pain"}})"
                "\n");
  ASSERT_TRUE(node.up()) << node.log();
  // It still runs when the time is over.
  ASSERT_EQ(
      node.run({"graph", "run", examples + "intake.graph.toml", "--input", scratch / "urgent.jsonl", "--wait", "0"})
          .exitCode,
      kExitSomeRefused);
  ASSERT_TRUE(test::until([&] { return test::contentOf(told).find('\n') != std::string::npos; })) << node.log();
  const json::value line = *parseJson(test::contentOf(told));
  EXPECT_EQ(line.at("kind"), "question");
  EXPECT_EQ(line.at("id"), node.runJson({"inbox"}).at("items").at(0).at("id"));
  ASSERT_EQ(node.stop(), 0);
  ASSERT_TRUE(node.up()) << node.log();
  const std::string id(line.at("id").as_string());
  const test::Finished answered = node.run({"inbox", id, "approve", "--by", "dr.supervising"});
  ASSERT_EQ(answered.exitCode, 0) << answered.err;
  EXPECT_TRUE(test::until([&] { return node.runJson({"inbox"}).at("waiting") == 0; }));
  const std::string all = test::contentOf(told);
  EXPECT_EQ(std::ranges::count(all, '\n'), 1) << all;
}

// A question that no person answered in its time, and a fold that failed for good.
void leaveBehind(const std::string& dir) {
  using namespace replication;
  auto opened = ReplicaDir::open(dir);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  LocalReplica& replica = (*opened)->replica();
  ApprovalBody asked;
  asked.operationId = asked.digest = asked.runKey = sha256("a mail");
  asked.agentId = "clerk", asked.what = R"({"tool":"mail.send"})";
  asked.verdict = ApprovalVerdict::denied, asked.by = kNobodyAnswered;
  asked.untilMs = asked.atMs = 1'000;
  std::vector<Write> writes{*recordWrite(toHex(asked.operationId), asked)};
  std::vector<std::string> parents;
  for (const char* id : {"m1", "m2", "m3"}) {
    const MessageBody body{id, "clerk", "main", MessageKind::thought, parents, std::string(8'000, 'a'), 1, {}};
    writes.push_back(*recordWrite(id, body));
    parents = {id};
  }
  ASSERT_TRUE(replica.commit(DatabaseName::agents, "main", writes).ok());
  ASSERT_TRUE((*opened)->flush().ok());
  agents::CompactionOptions options;
  options.triggerBytes = 10'000, options.keepBytes = 1'000, options.attempts = 1;
  agents::Compactor memory(replica, options);
  const agents::ExtractSummariser summariser;
  const Now now{Time{2'000'000}, 2'000};
  ASSERT_EQ(*memory.plan("clerk", "main", summariser, now), agents::Planned::job);
  const SummaryId id = memory.jobs().begin()->first;
  ASSERT_TRUE(memory.answered(id, Error{ErrorCode::unavailable, "no model", ""}, now).ok());
  ASSERT_TRUE((*opened)->flush().ok());
  ASSERT_TRUE((*opened)->close().ok());
}

TEST(InboxOfANodeWithAgents, AnswersWhatExpiredAndWhatWasNotFolded) {
  const Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_NO_FATAL_FAILURE(leaveBehind(node.dir()));
  ASSERT_TRUE(node.up()) << node.log();
  const json::value all = node.runJson({"inbox"});
  ASSERT_EQ(all.at("waiting"), 2);
  const json::value expired = all.at("items").at(0), fold = all.at("items").at(1);
  EXPECT_EQ(expired.at("kind"), "expired");
  EXPECT_EQ(expired.at("subject"), "clerk");
  EXPECT_EQ(expired.at("detail").at("verdict"), "denied");
  EXPECT_EQ(fold.at("kind"), "fold");
  EXPECT_EQ(fold.at("at"), "1970-01-01T00:00:02Z");
  EXPECT_EQ(fold.at("detail").at("error"), "no model");
  for (const json::value& item : {expired, fold}) {
    ASSERT_EQ(item.at("choices").as_array().size(), 1u);
    const std::string id(item.at("id").as_string()), choice(item.at("choices").at(0).at("choice").as_string());
    EXPECT_EQ(node.runJson({"inbox", "--kind", std::string(item.at("kind").as_string())}).at("waiting"), 1);
    EXPECT_EQ(node.run({"inbox", id, "seen"}).exitCode, kExitFailed) << "it names no person, or is none of its answers";
    EXPECT_EQ(node.post("/v1/inbox/seen", {{"item", id}}).ok(), false);
    EXPECT_EQ(node.post("/v1/inbox/claim", {{"item", id}, {"by", "ann\u202e<b>"}}).error().code,
              ErrorCode::invalidInput);
    EXPECT_TRUE(node.post("/v1/inbox/claim", {{"item", id}, {"by", "ann"}}).ok());
    EXPECT_EQ(node.run({"inbox", id, choice, "--by", "ann"}).exitCode, 0);
    EXPECT_EQ(node.runJson({"inbox", "--kind", std::string(item.at("kind").as_string())}).at("waiting"), 0);
  }
  EXPECT_EQ(node.runJson({"memory", "list"}).at("folds").as_array().size(), 0u);
}

}  // namespace
}  // namespace witan::node::inbox_test
