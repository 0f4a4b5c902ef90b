// Batches packed for etcd (node/etcd/etcd_json.h).

#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/sha256.h"
#include "node/etcd/etcd_json.h"

namespace witan::node::etcd_value_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string batchLike(std::size_t records) {
  std::string text = "WLOG";
  for (std::size_t i = 0; i < records; ++i)
    text += "{\"n\":1,\"type\":\"SpendA\"} op-" + std::to_string(i) + std::string(32, '\0');
  return text;
}

TEST(EtcdValue, ABatchIsPackedAndComesBack) {
  const std::string batch = batchLike(100), packed = packedForEtcd(batch);
  EXPECT_THAT(packed, StartsWith("WZST"));
  EXPECT_LT(packed.size(), batch.size() / 3);
  EXPECT_EQ(unpackedFromEtcd(packed).value(), batch);
  EXPECT_EQ(packedForEtcd(batch), packed) << "the same every time: a transaction may be made again";
}

// Names, numbers, what older builds wrote, and what does not get smaller.
TEST(EtcdValue, WhatIsNoBatchOrGainsNothingStandsAsItIs) {
  std::string noise = "WLOG";
  for (unsigned i = 0; i < 1'000; ++i) noise += static_cast<char>(sha256(std::to_string(i))[0]);
  for (const std::string& value : {std::string(), std::string("a@1"), std::string(1'000, 'x'), batchLike(1), noise}) {
    EXPECT_EQ(packedForEtcd(value), value);
    EXPECT_EQ(unpackedFromEtcd(value).value(), value);
  }
}

TEST(EtcdValue, WhatCannotBeUnpackedIsNamed) {
  const std::string packed = packedForEtcd(batchLike(100));
  const auto wrong = [](const std::string& value) { return unpackedFromEtcd(value).error().message; };
  std::string newer = packed;
  newer[4] = 2;
  EXPECT_THAT(wrong(newer), HasSubstr("does not know (version 2)"));
  EXPECT_THAT(wrong("WZST\1"), HasSubstr("without a version"));
  EXPECT_THAT(wrong(packed.substr(0, 9)), HasSubstr("does not state its size"));
  EXPECT_THAT(wrong(packed.substr(0, packed.size() - 1)), HasSubstr("damaged"));
  // Four GiB of zeros, as a frame that says so.
  const std::string bomb = packed.substr(0, 8) + std::string("\x28\xb5\x2f\xfd\xe0\0\0\0\0\1\0\0\0\1\0\0", 16);
  EXPECT_THAT(wrong(bomb), HasSubstr("more than 4194304"));
}

RC_GTEST_PROP(EtcdValue, AnyBytesAreUnpackedOrRefused, (const std::string& bytes)) {
  const auto unpacked = unpackedFromEtcd("WZST" + std::string("\1\0\0\0", 4) + bytes);
  if (unpacked.ok()) RC_ASSERT(unpacked->size() <= kMaxEtcdValueBytes);
}

// Many small frames that state 4 MiB each: a reply of 64 MiB could hold terabytes.
TEST(EtcdValue, AllValuesOfAReplyHaveALimitTogether) {
  const std::string large = packedForEtcd("WLOG" + std::string(kMaxEtcdValueBytes - 4, '\0'));
  ASSERT_LT(large.size(), 4'096u);
  const std::string kv =
      R"({"key":"bG9n","create_revision":"2","mod_revision":"2","value":")" + toBase64(large) + "\"}";
  const auto times = [](const std::string& one, std::size_t n) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += (i == 0 ? "" : ",") + one;
    return all;
  };
  const std::string header = R"({"header":{"cluster_id":"1","revision":"2"},)";
  EtcdRequest range;
  range.then = {{EtcdAct::range, {"log", ""}, "", 0, 0}, {EtcdAct::range, {"log", ""}, "", 0, 0}};
  const auto read = [&](std::size_t first, std::size_t second) {
    return readEtcdReply(EtcdExpected(range), 200,
                         header + R"("succeeded":true,"responses":[{"response_range":{"kvs":[)" + times(kv, first) +
                             R"(]}},{"response_range":{"kvs":[)" + times(kv, second) + "]}}]}");
  };
  const auto watch = [&](std::size_t n) {
    return readEtcdWatch(1, R"({"result":)" + header + R"("events":[)" + times(R"({"kv":)" + kv + "}", n) + "]}}");
  };
  EXPECT_TRUE(read(1, 8).ok()) << "what is read at a time";
  const std::size_t most = kMaxEtcdUnpackedBytes / kMaxEtcdValueBytes;
  EXPECT_TRUE(read(1, most - 1).ok());
  EXPECT_THAT(read(1, most).error().message,
              HasSubstr("value: with it the unpacked values of one answer are more than"));
  EXPECT_TRUE(watch(most).ok());
  EXPECT_THAT(watch(most + 1).error().message, HasSubstr("more than 134217728 bytes"));
}

// As the gateway carries it: there, and back in a range and in a watch.
TEST(EtcdValue, ItIsPackedOnTheWireAlone) {
  const std::string batch = batchLike(100);
  EtcdRequest request;
  request.then = {{EtcdAct::put, {"log", ""}, batch, 0, 0}};
  const std::string packed = toBase64(packedForEtcd(batch));
  EXPECT_THAT(etcdCallText(request).body, HasSubstr(R"("value":")" + packed + "\""));
  EtcdRequest range;
  range.then = {{EtcdAct::range, {"log", ""}, "", 0, 0}};
  const std::string header = R"({"header":{"cluster_id":"1","revision":"2"},)";
  for (const std::string& value : {packed, toBase64(batch)}) {  // this build's, and an older one's
    const std::string kv = R"({"key":"bG9n","create_revision":"2","mod_revision":"2","value":")" + value + "\"}";
    const auto answer =
        readEtcdReply(EtcdExpected(range), 200,
                      header + R"("succeeded":true,"responses":[{"response_range":{"kvs":[)" + kv + "]}}]}");
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->answer.results[0][0].value, batch);
    const auto watch = readEtcdWatch(1, R"({"result":)" + header + R"("events":[{"kv":)" + kv + "}]}}");
    ASSERT_TRUE(watch.ok()) << watch.error().message;
    EXPECT_EQ(watch->answer.changes[0].at.value, batch);
  }
}

// Of a newer build, on the wire: named with what helps, and nothing of it is passed on.
TEST(EtcdValue, ANewerPackingIsRefusedInAnswersAndInTheWatch) {
  std::string newer = packedForEtcd(batchLike(100));
  newer[4] = 2;
  EtcdRequest range;
  range.then = {{EtcdAct::range, {"log", ""}, "", 0, 0}};
  const std::string header = R"({"header":{"cluster_id":"1","revision":"2"},)";
  const std::string kv =
      R"({"key":"bG9n","create_revision":"2","mod_revision":"2","value":")" + toBase64(newer) + "\"}";
  const auto answer = readEtcdReply(
      EtcdExpected(range), 200, header + R"("succeeded":true,"responses":[{"response_range":{"kvs":[)" + kv + "]}}]}");
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("packed as this build does not know (version 2)"));
  const auto watch = readEtcdWatch(1, R"({"result":)" + header + R"("events":[{"kv":)" + kv + "}]}}");
  ASSERT_FALSE(watch.ok());
  EXPECT_THAT(watch.error().message, HasSubstr("packed as this build does not know (version 2)"));
}

}  // namespace
}  // namespace witan::node::etcd_value_test
