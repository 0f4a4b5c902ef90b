// Golden texts of etcd 3.4.23's JSON gateway: what it takes and what it says, member by member.
#include "node/etcd/etcd_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/json.h"
#include "node/etcd/etcd_gateway.h"
#include "tests/fuzz/target_etcd_json.h"

namespace witan::node::etcd_json_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kHeader =
    R"("header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"20","raft_term":"2"})";

std::string withHeader(std::string_view rest) { return "{" + std::string(kHeader) + std::string(rest) + "}"; }

EtcdRequest commitOfBatch() {
  EtcdRequest request;
  request.id = 9;
  request.compares = {{"w/owner/b/0", 12}, {"w/log/b/0/2", 0}, {"w/log/b/0/1", 0, true}};
  request.then = {{EtcdAct::put, {"w/log/b/0/2", ""}, std::string("\0\xff", 2), 0, 0}};
  request.otherwise = {{EtcdAct::range, {"w/owner/b/0", ""}, "", 0, 0},
                       {EtcdAct::range, {"w/log/b/0/", "w/log/b/00"}, "", 0, 32}};
  return request;
}

TEST(EtcdJson, ACommitAsTheGatewayTakesIt) {
  const EtcdCallText text = etcdCallText(commitOfBatch());
  EXPECT_EQ(text.path, "/v3/kv/txn");
  EXPECT_EQ(text.body,
            R"({"compare":[{"target":"CREATE","result":"EQUAL","key":"dy9vd25lci9iLzA=","create_revision":"12"},)"
            R"({"target":"CREATE","result":"EQUAL","key":"dy9sb2cvYi8wLzI=","create_revision":"0"},)"
            R"({"target":"CREATE","result":"GREATER","key":"dy9sb2cvYi8wLzE=","create_revision":"0"}],)"
            R"("success":[{"request_put":{"key":"dy9sb2cvYi8wLzI=","value":"AP8="}}],)"
            R"("failure":[{"request_range":{"key":"dy9vd25lci9iLzA="}},)"
            R"({"request_range":{"key":"dy9sb2cvYi8wLw==","range_end":"dy9sb2cvYi8wMA==","limit":"32"}}]})");
}

TEST(EtcdJson, LeasesRemovalsAndTheWatchAsTheGatewayTakesThem) {
  EtcdRequest request;
  request.call = EtcdCall::grant;
  request.ttlMs = 2'500;
  EXPECT_EQ(etcdCallText(request).path, "/v3/lease/grant");
  EXPECT_EQ(etcdCallText(request).body, R"({"TTL":"3"})");  // whole seconds, never shorter
  request.call = EtcdCall::keepAlive;
  request.lease = 7587870000000000000;
  EXPECT_EQ(etcdCallText(request).body, R"({"ID":"7587870000000000000"})");
  request.call = EtcdCall::watch;
  request.keys = {"w/", "w0"};
  request.from = 21;
  EXPECT_EQ(etcdCallText(request).body,
            R"({"create_request":{"key":"dy8=","range_end":"dzA=","start_revision":"21","fragment":true}})");
  EtcdRequest txn;
  txn.then = {{EtcdAct::put, {"k", ""}, "", 5, 0}, {EtcdAct::remove, {"a", "b"}, "", 0, 0}};
  EXPECT_EQ(etcdCallText(txn).body, R"({"compare":[],"success":[{"request_put":{"key":"aw==","value":"","lease":"5"}},)"
                                    R"({"request_delete_range":{"key":"YQ==","range_end":"Yg=="}}],"failure":[]})");
}

TEST(EtcdJson, ATransactionThatHeld) {
  const auto reply =
      readEtcdReply(EtcdExpected(commitOfBatch()), 200,
                    withHeader(R"(,"succeeded":true,"responses":[{"response_put":{"header":{"revision":"20"}}}])"));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->cluster, 324952591200643719u);
  EXPECT_EQ(reply->answer.id, 9u);
  EXPECT_EQ(reply->answer.revision, 20u);
  EXPECT_TRUE(reply->answer.succeeded);
  EXPECT_EQ(reply->answer.results, std::vector<std::vector<EtcdKeyValue>>(1));
}

TEST(EtcdJson, ATransactionThatDidNotHoldHasNoSucceeded) {
  const auto reply = readEtcdReply(
      EtcdExpected(commitOfBatch()), 200,
      withHeader(R"(,"responses":[{"response_range":{"header":{"revision":"20"},"kvs":[{"key":"dC9r",)"
                 R"("create_revision":"18","mod_revision":"19","version":"1","value":"dg==","lease":"232"}],)"
                 R"("count":"1"}},{"response_range":{"header":{"revision":"20"}}}])"));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_FALSE(reply->answer.succeeded);
  ASSERT_EQ(reply->answer.results.size(), 2u);
  EXPECT_EQ(reply->answer.results[0], (std::vector<EtcdKeyValue>{{"t/k", "v", 18, 19, 232}}));
  EXPECT_TRUE(reply->answer.results[1].empty());
}

TEST(EtcdJson, AKeepAliveOfADeadLeaseHasNoTtl) {
  EtcdExpected expected;
  expected.call = EtcdCall::keepAlive;
  const std::string head = R"({"result":{)" + std::string(kHeader) + R"(,"ID":"77")";
  EXPECT_EQ(readEtcdReply(expected, 200, head + R"(,"TTL":"5"}})")->answer.error, EtcdError::none);
  EXPECT_EQ(readEtcdReply(expected, 200, head + "}}\n")->answer.error, EtcdError::noLease);
}

TEST(EtcdJson, RefusalsSayWhatTheyAre) {
  const EtcdExpected expected(commitOfBatch());
  const auto with = [&](int status, const std::string& words) {
    return readEtcdReply(expected, status, R"({"error":")" + words + R"(","message":"m","code":5})");
  };
  EXPECT_EQ(with(404, "etcdserver: requested lease not found")->answer.error, EtcdError::noLease);
  EXPECT_EQ(with(400, "etcdserver: request is too large")->answer.error, EtcdError::tooLarge);
  EXPECT_EQ(with(429, "grpc: received message larger than max (3700020 vs. 2097152)")->answer.error,
            EtcdError::tooLarge);
  EXPECT_EQ(with(503, "etcdserver: no leader").error().code, ErrorCode::unavailable);
  EXPECT_THAT(with(503, "etcdserver: no leader").error().message, HasSubstr("503, \"etcdserver: no leader\""));
  EXPECT_EQ(with(429, "etcdserver: mvcc: database space exceeded").error().code, ErrorCode::unavailable);
  EXPECT_EQ(with(401, "etcdserver: invalid auth token").error().code, ErrorCode::unauthorised);
  EXPECT_EQ(readEtcdReply(expected, 404, "Not Found\n").error().code, ErrorCode::invalidInput);
}

TEST(EtcdJson, WhatIsNotEtcdsIsNamed) {
  const EtcdExpected expected(commitOfBatch());
  const auto says = [&](const std::string& body) { return readEtcdReply(expected, 200, body).error().message; };
  EXPECT_THAT(says("<html>"), HasSubstr("body"));
  EXPECT_THAT(says("{}"), HasSubstr("header"));
  EXPECT_THAT(says(R"({"header":{"revision":"-1"}})"), HasSubstr("revision"));
  EXPECT_THAT(says(withHeader(R"(,"succeeded":true)")), HasSubstr("responses"));
  EXPECT_THAT(says(withHeader(R"(,"succeeded":true,"responses":[{"response_range":{}}])")), HasSubstr("response_put"));
  EXPECT_THAT(says(withHeader(R"(,"succeeded":"yes")")), HasSubstr("succeeded"));
  EXPECT_THAT(says(withHeader(R"(,"responses":[{"response_range":{"kvs":[{"key":"%%"}]}},{"response_range":{}}])")),
              HasSubstr("key"));
}

TEST(EtcdJson, AWatchTellsChangesInOrderAndItsEnd) {
  const auto news = [&](std::string_view rest) {
    return readEtcdWatch(4, R"({"result":{)" + std::string(kHeader) + std::string(rest) + "}}");
  };
  EXPECT_TRUE(news(R"(,"created":true)")->answer.changes.empty());
  const auto changes = news(
      R"(,"events":[{"kv":{"key":"dC9r","create_revision":"20","mod_revision":"20","version":"1","value":"dg=="}},)"
      R"({"type":"DELETE","kv":{"key":"dC9r","mod_revision":"21"}}])");
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  EXPECT_EQ(changes->answer.id, 4u);
  ASSERT_EQ(changes->answer.changes.size(), 2u);
  EXPECT_FALSE(changes->answer.changes[0].removed);
  EXPECT_EQ(changes->answer.changes[0].at, (EtcdKeyValue{"t/k", "v", 20, 20, 0}));
  EXPECT_TRUE(changes->answer.changes[1].removed);
  EXPECT_EQ(changes->answer.changes[1].at.modified, 21u);
  EXPECT_EQ(news(R"(,"canceled":true,"compact_revision":"21")")->answer.error, EtcdError::compacted);
  EXPECT_EQ(news(R"(,"canceled":true,"cancel_reason":"no leader")").error().code, ErrorCode::unavailable);
  EXPECT_EQ(readEtcdWatch(4, R"({"error":{"grpc_code":14,"message":"closing"}})").error().code, ErrorCode::unavailable);
}

TEST(EtcdJson, ALineThatIsTooLongIsRefused) {
  EtcdLines lines(4);
  lines.put("abcd\n\nefgh\nij");
  EXPECT_EQ(*lines.next(), "abcd");
  EXPECT_EQ(*lines.next(), "efgh");
  EXPECT_EQ(*lines.next(), "");
  lines.put("klm");
  EXPECT_FALSE(lines.next().ok());
}

RC_GTEST_PROP(EtcdJson, AStreamGivesTheSameLinesHoweverItIsCut, (const std::vector<std::string>& words, bool ended)) {
  std::string text;
  std::vector<std::string> wanted;
  for (std::string word : words) {
    std::erase(word, '\n');
    text += word + "\n";
    if (!word.empty()) wanted.push_back(word);
  }
  if (!ended) text += "rest";
  for (const std::size_t piece : {1, 2, 7, 100'000}) RC_ASSERT(fuzz::etcdLinesOf(text, piece) == wanted);
}

// What was put comes back byte for byte: values are no text.
RC_GTEST_PROP(EtcdJson, AnyBytesGoThereAndBack, (const std::string& key, const std::string& value)) {
  EtcdRequest request;
  request.then = {{EtcdAct::put, {key, ""}, value, 0, 0}};
  const auto sent = parseJson(etcdCallText(request).body);
  RC_ASSERT(sent.ok());
  const json::object& put = sent->at("success").at(0).at("request_put").as_object();
  EtcdExpected expected;
  expected.otherwise = {EtcdAct::range};
  const auto reply =
      readEtcdReply(expected, 200,
                    withHeader(R"(,"responses":[{"response_range":{"kvs":[{"key":)" + canonicalJson(put.at("key")) +
                               R"(,"value":)" + canonicalJson(put.at("value")) + "}]}}]"));
  RC_ASSERT(reply.ok());
  RC_ASSERT(reply->answer.results[0][0].key == key);
  RC_ASSERT(reply->answer.results[0][0].value == value);
}

TEST(EtcdEndpoints, AreUrlsOfHosts) {
  DaemonConfig config;
  config.etcd = {"http://127.0.0.1:2379", "https://[::1]:2379/"};
  config.etcdCa = "ca.pem";
  const auto endpoints = etcdEndpoints(config);
  ASSERT_TRUE(endpoints.ok()) << endpoints.error().message;
  EXPECT_FALSE((*endpoints)[0].tls);
  EXPECT_EQ((*endpoints)[0].caFile, "");
  EXPECT_TRUE((*endpoints)[1].tls);
  EXPECT_EQ((*endpoints)[1].address, "[::1]:2379");
  EXPECT_EQ((*endpoints)[1].caFile, "ca.pem");
  for (const char* bad : {"127.0.0.1:2379", "http://127.0.0.1", "ftp://a:1", "http://a:1/v3", "http://unix:/x", ""}) {
    config.etcd = {bad};
    EXPECT_FALSE(etcdEndpoints(config).ok()) << bad;
  }
}

}  // namespace
}  // namespace witan::node::etcd_json_test
