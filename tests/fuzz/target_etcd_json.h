// Any bytes as what an etcd says: as the answer to each kind of request, and as a watch's stream in pieces of any size.
// Nothing is refused without a word; what is accepted fits the request; a stream gives the same lines however it is
// cut.
#pragma once

#include <string_view>
#include <vector>

#include "base/check.h"
#include "node/etcd/etcd_json.h"

namespace witan::fuzz {

inline std::vector<std::string> etcdLinesOf(std::string_view bytes, std::size_t piece) {
  node::EtcdLines lines(256);
  std::vector<std::string> out;
  while (!bytes.empty()) {
    lines.put(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      const auto line = lines.next();
      if (!line.ok()) {
        out.emplace_back("too long");
        return out;
      }
      if (line->empty()) break;
      out.emplace_back(*line);
    }
  }
  return out;
}

inline void fuzzEtcdJson(std::string_view text) {
  using namespace node;
  EtcdExpected expected;
  expected.id = 7;
  expected.then = {EtcdAct::put};
  expected.otherwise = {EtcdAct::range, EtcdAct::range};
  for (const EtcdCall call : {EtcdCall::txn, EtcdCall::grant, EtcdCall::keepAlive, EtcdCall::watch})
    for (const int status : {200, 404, 503}) {
      expected.call = call;
      const auto reply = readEtcdReply(expected, status, text);
      if (!reply.ok()) {
        WITAN_CHECK(!reply.error().message.empty(), "a refusal says why");
        continue;
      }
      WITAN_CHECK(reply->answer.id == 7, "an answer names its request");
      if (call == EtcdCall::txn && reply->answer.error == EtcdError::none)
        WITAN_CHECK(reply->answer.results.size() == (reply->answer.succeeded ? 1 : 2), "a result of each operation");
      if (call == EtcdCall::grant && reply->answer.error == EtcdError::none)
        WITAN_CHECK(reply->answer.lease != 0, "a lease has an id");
    }
  WITAN_CHECK(etcdLinesOf(text, 1) == etcdLinesOf(text, 1000), "pieces do not matter");
}

}  // namespace witan::fuzz
