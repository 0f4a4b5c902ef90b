// A member that writes in another device's name, on three nodes over TLS: nobody takes its rows, an incident names it,
// and after its revocation it opens nothing that is sealed (docs/SECURITY.md, attacks 9 and 12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "domains/agents.h"
#include "kernel/record/signed_leaves.h"
#include "node/cluster/device_key.h"
#include "node/cluster/scope_keys.h"
#include "node/data_dir/replica_dir.h"
#include "replication/records/record_schemas.h"
#include "replication/records/records.h"
#include "tests/node/node_process.h"

namespace witan::node::forged_rows_test {
namespace {

using namespace test;
using replication::DatabaseName;
using replication::Kind;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRoles = "*";

// Signs whatever it is given, and believes every seal.
class LyingKeys final : public replication::RowKeys {
 public:
  LyingKeys(SigningKey key, std::string cluster) : key_(std::move(key)), cluster_(std::move(cluster)) {}
  std::string seal(std::span<const Hash> leaves) override {
    return kernel::packSet(kernel::signSet(cluster_, leaves, key_));
  }
  std::string keep(std::string_view seal, std::span<const std::uint32_t> leaves) override {
    return kernel::packSet(kernel::keepLeaves(*kernel::readSet(seal), leaves));
  }
  Result<std::vector<replication::SealLeaf>> open(std::string_view seal, std::string_view) override {
    WITAN_TRY(set, kernel::readSet(seal));
    Hash root{};
    const std::vector<Hash> leaves = kernel::leavesOf(set, root);
    std::vector<replication::SealLeaf> out;
    for (std::size_t i = 0; i < leaves.size(); ++i) out.push_back({set.kept[i], leaves[i]});
    return out;
  }
  bool sealsAll(std::string_view) const override { return true; }

 private:
  const SigningKey key_;
  const std::string cluster_;
};

std::string bodyOf(const std::string& text) {
  replication::JournalBody body;
  body.type = "plot";
  body.payload = json::serialize(json::value(text));
  body.author = "ada";
  body.lamport = 1;
  return *replication::encodeRecord(body);
}

// Puts an entry of `writer` into a stopped node's store, under a seal of that node's own key, as the attacker's program
// would.
void forge(const Node& node, const std::string& writer, const std::string& key) {
  const auto identity = readReplicaIdentity(node.dir());
  ASSERT_TRUE(identity.ok());
  const auto keys = std::make_shared<LyingKeys>(*readKey(node.dir(), KeyName::device), identity->cluster);
  auto dir = ReplicaDir::open(node.dir(), keys);
  ASSERT_TRUE(dir.ok()) << dir.error().message;
  replication::Space& space = **(*dir)->replica().database(DatabaseName::journal).space("main");
  const auto index = space.intern(writer);
  const replication::Seq seq = space.vector().at(*index) + 5;
  const std::string body = bodyOf("forged");
  const Hash leaf = space.seals().leafOf({*index, seq, 1, Kind::journal, key, false, {}, body});
  const std::string bytes = keys->seal({&leaf, 1});
  replication::ArrivingSeal seal;
  seal.bytes = bytes, seal.first = 1;
  replication::Incoming row{Kind::journal, key, *index, seq, false, nullptr, body};
  row.proof = {&seal, 0, nullptr};
  ASSERT_EQ(space.receive(row), replication::Arrival::inserted);
  replication::VersionVector upTo;
  upTo.raise(*index, seq);
  space.advance(upTo);
  ASSERT_TRUE((*dir)->close().ok());
}

std::string accusedOf(const Node& node, std::string_view kind) {
  const json::value list = node.runJson({"incident", "list"});
  if (list.as_object().contains("incidents"))
    for (const json::value& one : list.at("incidents").as_array())
      if (one.at("kind").as_string() == kind) return std::string(one.at("peer").as_string());
  return "";
}

std::string writerOf(const Node& node) {
  return std::string(node.runJson({"sync", "status"}).at("writer").as_string());
}

Result<agents::ContentSeals> sealsOf(const Node& node) {
  WITAN_TRY(keys, sealKeysOf(node.dir(), "main"));
  return domains::contentSeals(std::move(keys));
}

// The payload of a journal entry as it stands in a stopped node's store.
std::string storedOf(const Node& node, const std::string& key) {
  auto dir = ReplicaDir::open(node.dir());
  if (!dir.ok()) return dir.error().message;
  const auto versions =
      (**(*dir)->replica().database(DatabaseName::journal).space("main")).versions(Kind::journal, key);
  if (!versions.ok() || versions->size() != 1) return "not there once";
  const auto body = replication::decodeRecord<replication::JournalBody>(versions->front().body);
  EXPECT_TRUE((*dir)->close().ok());
  return body.ok() ? body->payload : body.error().message;
}

TEST(ForgedRowsOfNodes, AreRefusedAndTheirSenderIsNamedAndReadsNothingOnceItIsRevoked) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second"), mole(scratch, "mole");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_TRUE(enrol(first, second, {"--role", kRoles}) && enrol(first, mole, {"--role", kRoles})) << mole.log();
  ASSERT_EQ(first.run({"journal", "put", "plot", "--type", "plot", "--text", "beans"}).exitCode, 0);
  const auto reads = [](const Node& node, const std::string& key) { return node.run({"journal", "get", key}).out; };
  ASSERT_TRUE(until([&] {
    return reads(second, "plot").find("beans") != std::string::npos &&
           reads(mole, "plot").find("beans") != std::string::npos;
  })) << mole.log();
  const std::string writer = writerOf(first), moleDevice = readReplicaIdentity(mole.dir())->device;
  ASSERT_TRUE(first.stop() == 0 && mole.stop() == 0);
  forge(mole, writer, "plot");
  ASSERT_TRUE(mole.up()) << mole.log();
  ASSERT_THAT(reads(mole, "plot"), HasSubstr("forged")) << "the attack does something";
  ASSERT_TRUE(until([&] { return !accusedOf(second, "forgedRow").empty(); })) << second.log();
  EXPECT_EQ(accusedOf(second, "forgedRow"), moleDevice);
  EXPECT_THAT(reads(second, "plot"), Not(HasSubstr("forged")));
  // What is honest goes on.
  ASSERT_TRUE(first.up() && until([&] { return second.connectedTo(1) || second.connectedTo(2); })) << second.log();
  ASSERT_EQ(first.run({"device", "revoke", "mole", "--reason", "forged rows"}).exitCode, 0);
  const auto isOfTheNextKey = [](const std::string& text) {
    return text.find("\"sealedUnder\":\"*/") != text.npos && text.find("\"sealedUnder\":\"*/1\"") == text.npos;
  };
  const std::string secret = R"({"artifact":"a","nonce":"n","portfolio":"p","v":"V-1"})", type = "disclosure.case";
  ASSERT_TRUE(until([&] {
    const auto seals = sealsOf(second);
    const auto sealed = seals.ok() ? seals->sealed(type, secret) : Result<std::string>(seals.error());
    return sealed.ok() && isOfTheNextKey(*sealed);
  })) << second.log();
  scratch.write("secret.json", secret);
  ASSERT_EQ(second.run({"journal", "put", "case", "--type", type, "--json-payload", scratch / "secret.json"}).exitCode,
            0);
  EXPECT_TRUE(until([&] { return isOfTheNextKey(reads(first, "case")); })) << reads(first, "case") << first.log();
  EXPECT_THAT(reads(first, "plot"), Not(HasSubstr("forged")));

  // The revoked device gets hold of the row and of the newest roster.
  ASSERT_TRUE(second.stop() == 0 && mole.stop() == 0);
  const std::string stored = storedOf(second, "case");
  ASSERT_TRUE(isOfTheNextKey(stored)) << stored;
  for (const Node* node : {&first, &second})
    EXPECT_EQ(canonicalJson(*sealsOf(*node)->opened(type, *parseJson(stored))), secret) << node->name();
  std::filesystem::copy_file(second.dir() + "/roster", mole.dir() + "/roster",
                             std::filesystem::copy_options::overwrite_existing);
  const auto ofMole = sealsOf(mole);
  EXPECT_FALSE(ofMole.ok() && ofMole->opened(type, *parseJson(stored)).ok());
}

}  // namespace
}  // namespace witan::node::forged_rows_test
