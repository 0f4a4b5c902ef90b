// Any bytes as frames of tunnels, from two devices that a third one is linked with: it takes them or ends the link,
// passes on no more than it was given, and forgets everything with the links. Byte 6 of a header, which means nothing,
// says who sends.
#pragma once

#include <algorithm>
#include <string>

#include "base/check.h"
#include "node/relay/tunnel_table.h"

namespace witan::fuzz {

struct TunnelFuzz {
  node::TunnelTable table{"b", true};
  std::size_t sent = 0, given = 0;
  std::int64_t now = 0;

  void take(node::TunnelEffects effects) {
    for (node::TunnelEffect& effect : effects) {
      node::TunnelEffects more;
      if (const auto* send = std::get_if<node::TunnelSend>(&effect)) {
        WITAN_CHECK(table.isLinked(send->device), "nothing is sent without a link");
        sent += send->frames.size();
      } else if (const auto* offered = std::get_if<node::TunnelOffered>(&effect)) {
        table.accept(offered->id, more);
        if (table.room(offered->id) > 0) table.send(offered->id, "hello", more);
      } else if (const auto* arrived = std::get_if<node::TunnelArrived>(&effect)) {
        given += arrived->bytes.size();
        table.taken(arrived->id, arrived->bytes.size(), more);
      }
      if (!more.empty()) take(std::move(more));
    }
  }
  void frame(const std::string& from, std::string_view bytes) {
    node::TunnelEffects effects;
    const Status taken = table.received(from, bytes, now += 10, effects);
    take(std::move(effects));
    if (taken.ok()) return;
    unlink(from);
    table.linked(from);
  }
  void unlink(const std::string& device) {
    node::TunnelEffects effects;
    table.unlinked(device, "cut", effects);
    take(std::move(effects));
  }
};

inline void fuzzTunnelFrame(std::string_view bytes) {
  if (bytes.size() > 1 << 20) return;
  TunnelFuzz fuzz;
  fuzz.table.linked("a"), fuzz.table.linked("c");
  node::TunnelEffects asked;
  WITAN_CHECK(fuzz.table.ask("a", "z", asked) != 0, "a way can be asked for");
  fuzz.take(std::move(asked));
  const std::size_t all = bytes.size();
  while (bytes.size() >= kFrameHeaderBytes) {
    const auto header = readFrameHeader(bytes.substr(0, kFrameHeaderBytes), 1 << 20);
    if (!header.ok() || bytes.size() - kFrameHeaderBytes < header->length) break;
    const std::string_view whole = bytes.substr(0, kFrameHeaderBytes + header->length);
    if (node::isTunnelFrame(header->type)) fuzz.frame((whole[6] & 1) != 0 ? "c" : "a", whole);
    bytes.remove_prefix(whole.size());
  }
  WITAN_CHECK(fuzz.given <= all, "nothing arrives that was not sent");
  WITAN_CHECK(fuzz.sent <= 1'000 + 32 * all, "what is sent is bounded by what came");
  fuzz.unlink("a"), fuzz.unlink("c");
  WITAN_CHECK(fuzz.table.carrying() == 0 && fuzz.table.ends() == 0, "nothing outlives its link");
}

}  // namespace witan::fuzz
