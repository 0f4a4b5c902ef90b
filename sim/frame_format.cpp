#include "sim/frame_format.h"

#include <algorithm>
#include <array>

#include "base/quote.h"
#include "replica/core/messages.h"

namespace witan::sim {

namespace {

using node::AdjudicationFrame;

constexpr std::size_t kMostFrames = 8;  // frames told of one chunk
constexpr std::array<std::string_view, 13> kSyncFrames{"",      "hello",  "writers",    "segment", "ack",
                                                       "retry", "ranges", "range list", "need",    "items",
                                                       "acks",  "bye",    "spaces"};

// A name from outside may be anything.
std::string plain(std::string_view text) {
  const auto odd = [](char c) { return c < '!' || c > '~'; };
  return text.size() > 80 || std::any_of(text.begin(), text.end(), odd) ? inQuotes(text) : std::string(text);
}

template <class T, class Words>
std::string read(std::string_view message, std::string_view name, Words words) {
  T value;
  const Status status = readMessage(message, value, "frame");
  return std::string(name) + (status.ok() ? " " + words(value) : " (unreadable)");
}

std::string adjudication(AdjudicationFrame type, std::string_view message) {
  switch (type) {
    case AdjudicationFrame::request:
      return read<node::Request>(message, "request", [](const node::Request& m) {
        return plain(m.operationId) + " (" + std::string(enumName(m.kind)) + " " + plain(m.entity) + ")";
      });
    case AdjudicationFrame::answer:
      return read<node::Answer>(message, "answer", [](const node::Answer& m) {
        const std::string said(m.kind == node::AnswerKind::decided ? enumName(m.outcome) : enumName(m.kind));
        return plain(m.operationId) + " " + said + (m.seq > 0 ? " as entry " + std::to_string(m.seq) : "");
      });
    case AdjudicationFrame::standing:
      return read<node::PeerAdvertisement>(message, "standing", [](const node::PeerAdvertisement& m) {
        return "of " + std::to_string(m.claims.size()) + " claims, " + std::to_string(m.positions.size()) +
               " positions";
      });
    case AdjudicationFrame::entries:
      return read<node::Entries>(message, "entries", [](const node::Entries& m) {
        return plain(m.partition) + " batch " + std::to_string(m.batch) + " of epoch " + std::to_string(m.epochNumber);
      });
    case AdjudicationFrame::followed:
      return read<node::Followed>(message, "followed", [](const node::Followed& m) {
        return plain(m.partition) + " up to batch " + std::to_string(m.batches);
      });
  }
  return "a frame of the unknown type " + std::to_string(static_cast<unsigned>(type));
}

std::string oneFrame(std::string_view frame) {
  const auto header = replication::readFrameHeader(frame, node::kMaxAdjudicationFrame);
  if (!header || header->length != frame.size() - replication::kFrameHeaderBytes) return "no frame";
  if (header->type < kSyncFrames.size() && header->type > 0) return std::string(kSyncFrames[header->type]);
  if (header->type < node::kFirstAdjudicationFrame)
    return "a frame of the unknown type " + std::to_string(unsigned{header->type});
  return adjudication(static_cast<AdjudicationFrame>(header->type), frame.substr(replication::kFrameHeaderBytes));
}

}  // namespace

std::string frameWords(std::string_view frames) {
  const std::size_t size = frames.size();
  std::string out;
  std::size_t told = 0;
  while (frames.size() >= replication::kFrameHeaderBytes) {
    std::uint32_t length = 0;
    for (unsigned i = 0; i < 4; ++i)
      length |= static_cast<std::uint32_t>(static_cast<unsigned char>(frames[i])) << (8 * i);
    const std::size_t one = std::min<std::size_t>(frames.size(), replication::kFrameHeaderBytes + length);
    if (told++ < kMostFrames) out += (out.empty() ? "" : "; ") + oneFrame(frames.substr(0, one));
    frames.remove_prefix(one);
  }
  if (told > kMostFrames) out += "; and " + std::to_string(told - kMostFrames) + " more";
  if (!frames.empty()) out += out.empty() ? "no frame" : "; a piece of a frame";
  return out + ", " + std::to_string(size) + " bytes";
}

}  // namespace witan::sim
