// Any bytes as frames between the nodes of a cluster: each message reads them or says why not, and what it read is
// written and read again as the same.
#pragma once

#include <string>

#include "base/check.h"
#include "base/json_codec.h"
#include "node/cluster/messages.h"
#include "node/ledgers/ledger_heads.h"

namespace witan::fuzz {

template <class Message>
void readAgain(std::string_view frame) {
  Message message, again;
  if (static_cast<std::uint8_t>(frame[4]) != static_cast<std::uint8_t>(Message::kFrame)) return;
  if (!node::readClusterFrame(frame, message).ok()) return;
  const std::string written = node::clusterFrame(message);
  WITAN_CHECK(node::readClusterFrame(std::string_view(written), again).ok(), "what was written is read");
  WITAN_CHECK(node::clusterFrame(again) == written, "what was read is what was written");
  if constexpr (std::is_same_v<Message, node::EntryTold>) {
    node::InclusionProof proof;
    if (auto parsed = parseJson(message.proof, {.bytes = node::kMaxClusterFrame, .depth = 4}); parsed.ok())
      (void)readJson(*parsed, proof, "proof");
  }
}

inline void fuzzClusterFrame(std::string_view bytes) {
  const std::string frame(bytes);  // aligned
  if (frame.size() <= kFrameHeaderBytes || frame.size() > node::kMaxClusterFrame) return;
  readAgain<node::RosterMessage>(frame), readAgain<node::JoinRequest>(frame), readAgain<node::JoinAnswer>(frame);
  readAgain<node::SliceHave>(frame), readAgain<node::Slice>(frame), readAgain<node::SliceUpTo>(frame);
  readAgain<node::RotateKey>(frame), readAgain<node::EntryAsk>(frame), readAgain<node::EntryTold>(frame);
}

}  // namespace witan::fuzz
