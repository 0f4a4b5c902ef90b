// The messages of node/cluster/cluster.capnp as plain structs, and their frames.
//
// Pure functions, any thread. What was read owns its bytes. Structs have the members of the schema in the order of its
// ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/capnp_codec.h"
#include "base/time.h"
#include "replication/sync_messages.h"

namespace witan::node {

inline constexpr std::uint8_t kFirstClusterFrame = 64;
inline constexpr std::uint8_t kLastClusterFrame = 95;
enum class ClusterFrame : std::uint8_t {
  roster = 64,
  joinRequest,
  joinAnswer,
  sliceHave,
  slice,
  sliceUpTo,
  rotateKey,
  entryAsk = 77,  // those between: node/relay/tunnel_messages.h
  entryTold
};

inline constexpr std::size_t kMaxClusterFrame = 2 * 1024 * 1024;

struct RosterMessage {
  static constexpr auto kFrame = ClusterFrame::roster;
  static constexpr std::size_t textMax = kMaxClusterFrame;
  WITAN_DECLARED(RosterMessage, (std::vector<std::uint8_t>, document), (Time, dated), (std::uint64_t, datedVersion),
                 (std::string, dateSignature), (std::string, revocation), (Time, sent))
};

struct JoinRequest {
  static constexpr auto kFrame = ClusterFrame::joinRequest;
  WITAN_DECLARED(JoinRequest, (std::string, tokenId), (std::string, secret), (std::string, name),
                 (std::vector<std::string>, addresses), (std::vector<std::uint8_t>, proof))
};

WITAN_ENUM(JoinVerdict, refused, pending, admitted)

struct JoinAnswer {
  static constexpr auto kFrame = ClusterFrame::joinAnswer;
  static constexpr std::size_t textMax = kMaxClusterFrame;
  WITAN_DECLARED(JoinAnswer, (JoinVerdict, verdict, JoinVerdict::refused), (std::string, reason), (std::string, device),
                 (std::string, cluster), (std::vector<std::uint8_t>, adminKey), (std::vector<std::uint8_t>, clusterKey),
                 (std::uint32_t, partitions), (std::vector<std::uint8_t>, document), (std::string, revocation))
};

struct SlicePlace {
  WITAN_DECLARED(SlicePlace, (std::string, partition), (std::uint64_t, batches))
};

struct SliceHave {
  static constexpr auto kFrame = ClusterFrame::sliceHave;
  WITAN_DECLARED(SliceHave, (std::vector<SlicePlace>, places))
};

struct Slice {
  static constexpr auto kFrame = ClusterFrame::slice;
  static constexpr std::size_t textMax = kMaxClusterFrame;
  WITAN_DECLARED(Slice, (std::string, domain), (std::string, entity), (std::string, role), (std::string, state),
                 (bool, frozen), (Time, time), (std::string, partition), (std::uint64_t, batches))
};

struct SliceUpTo {
  static constexpr auto kFrame = ClusterFrame::sliceUpTo;
  WITAN_DECLARED(SliceUpTo, (SlicePlace, place))
};

struct RotateKey {
  static constexpr auto kFrame = ClusterFrame::rotateKey;
  WITAN_DECLARED(RotateKey, (std::vector<std::uint8_t>, key), (std::vector<std::uint8_t>, proof))
};

struct EntryAsk {
  static constexpr auto kFrame = ClusterFrame::entryAsk;
  WITAN_DECLARED(EntryAsk, (std::uint64_t, id), (std::string, partition), (std::uint64_t, seq), (std::uint64_t, size),
                 (std::uint64_t, since))
};

WITAN_ENUM(EntryVerdict, refused, busy, told)

struct EntryTold {
  static constexpr auto kFrame = ClusterFrame::entryTold;
  static constexpr std::size_t textMax = kMaxClusterFrame;
  WITAN_DECLARED(EntryTold, (std::uint64_t, id), (EntryVerdict, verdict, EntryVerdict::refused), (std::string, reason),
                 (std::string, head), (std::string, proof))
};

// One frame of such a message, or of one of node/relay/tunnel_messages.h; header included.
template <class T>
std::string clusterFrame(const T& message) {
  WordWriter words;
  std::string out;
  replication::appendFrameBytes(out, static_cast<replication::FrameType>(T::kFrame), words.message(message));
  return out;
}

// Requires: a whole frame, as the transport hands them over. Errors: of another type, unreadable.
template <class T>
Status readClusterFrame(std::string_view frame, T& into) {
  if (frame.size() <= replication::kFrameHeaderBytes ||
      static_cast<std::uint8_t>(frame[4]) != static_cast<std::uint8_t>(T::kFrame))
    return invalid("a frame of another type than was expected here");
  return readMessage(frame.substr(replication::kFrameHeaderBytes), into, "frame");
}

}  // namespace witan::node
