// Links: mutually authenticated streams of frames between devices, over TLS 1.3 and nothing older.
//
// A link is up when both ends have finished the handshake and both have admitted the other's key; then frames
// (base/frame.h) go both ways, in order, whole or not at all, until it is down. A link that breaks has lost an unknown
// tail of what was sent. Two devices may have several links; net/ only reports them. What the transport says for itself
// (welcome, ping, pong, goodbye) is in net/link_frames.h and never comes up.
//
// Belongs to its loop's thread. The loop must outlive it. Events come from the loop, never from inside a call; none
// comes once the destructor has begun. An event's function may call anything here, but may not destroy the PeerNetwork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "net/loop.h"
#include "net/pipe.h"
#include "net/tls_identity.h"

namespace witan::net {

using LinkId = std::uint64_t;  // never given twice, never 0

inline constexpr std::string_view kMemberPurpose = "witan/1";
inline constexpr std::string_view kJoinPurpose = "witan-join/1";

struct LinkInfo {
  LinkId id = 0;
  PublicKey key{};       // of the other end, proven
  std::string address;   // of the other end: "10.0.0.7:41520", "[::1]:7600"
  bool dialled = false;  // by this end
  std::string purpose;   // the ALPN protocol (RFC 7301) that both agreed on
  std::string name;      // of the dial; empty if it was accepted
  std::string via;       // who carries it (PeerNetwork::carry); empty: it has a connection of its own
};

// What has gone over a link so far.
struct LinkStats {
  std::uint64_t bytesIn = 0, bytesOut = 0;    // frames with their headers, before TLS
  std::uint64_t framesIn = 0, framesOut = 0;  // the transport's own included; framesOut counts calls of send()
  std::int64_t roundTripMs = -1;              // of the latest ping; -1: none came back yet
  std::uint64_t pongs = 0;                    // that answered a ping
  std::int64_t upSinceMs = 0;                 // Loop::nowMs()
};

// A link whose bytes somebody else carries.
struct CarriedLink {
  std::string via;               // who does; shown as the address, and whom a limit per address is for
  std::string name;              // as of a dial; empty: this end accepts
  std::optional<PublicKey> key;  // whom to expect; else admit() decides
};

// An address that is dialled until undial().
struct DialInfo {
  std::string name, address;
  LinkId link = 0;             // 0: not up
  std::uint64_t failures = 0;  // in a row
  std::string lastError;       // empty: none yet
};

struct PeerNetworkOptions {
  std::size_t maxFrameBytes = 2 * 1024 * 1024;    // the message; its header is 8 bytes more
  std::size_t maxQueuedBytes = 16 * 1024 * 1024;  // outgoing, per link: more ends it ("slow")
  std::size_t maxUnknownFrameBytes = 64 * 1024;   // until the owner has called trust(link)
  std::size_t maxLinks = 512;
  // Accepted connections that are not up yet. One more ends the oldest of that address, or of the address that has
  // most.
  std::size_t maxHandshakes = 64, maxHandshakesPerAddress = 16;
  std::int64_t handshakeTimeoutMs = 10'000;  // from the connection to being up
  std::int64_t heartbeatMs = 5'000;          // a ping after that long without sending
  std::int64_t deadAfterMs = 20'000;         // nothing came, or nothing of what waits could be written, for that long
  std::int64_t closeTimeoutMs = 2'000;       // for what is queued and the reason, when closing
  std::int64_t backoffFirstMs = 100, backoffMostMs = 30'000;  // doubled, each with a jitter of down to half
  std::uint64_t seed = 0;                                     // of the jitter; 0: from the operating system
  std::vector<std::string> purposes{std::string(kMemberPurpose), std::string(kJoinPurpose)};  // accepted
};

struct PeerEvents {
  // After the handshake, before the link is up. An error refuses it and travels to the peer as the reason. trust(id)
  // may be called here. Not set: everybody is admitted.
  std::function<Status(const LinkInfo&)> admit;
  std::function<void(const LinkInfo&)> up;
  // One whole frame, header included. The view dies with the call.
  std::function<void(LinkId, std::string_view frame)> frame;
  // Is this type of frame (byte 4 of its header) expected on a link of this purpose? If not, the link ends before
  // memory is made for more than a frame of the usual buffer. Not set: all are.
  std::function<bool(std::string_view purpose, std::uint8_t type)> knowsFrame;
  // Next comes its `down`, and for half of deadAfterMs before that nothing has passed in one direction at least.
  std::function<void(LinkId)> quiet;
  // Each link that was up, once, however it ended: also close() and drop() of this end.
  std::function<void(LinkId, std::string_view reason)> down;
  std::function<void(LinkId)> room;                     // its queue fell below a quarter of the limit
  std::function<void(const std::string& name)> missed;  // a dial has failed; the next follows by itself
  // "info", "warning": refused handshakes, limits. At most 20 in 10 seconds, then one that counts the rest. "dial":
  // failed dials and carried links of this end, which are as many as it makes, and are not counted there.
  std::function<void(std::string_view level, std::string_view what)> log;
};

class PeerNetwork {
 public:
  // `identity` must come from tlsIdentityOf.
  PeerNetwork(Loop& loop, const TlsIdentity& identity, PeerNetworkOptions options, PeerEvents events);
  ~PeerNetwork();  // like drop() of everything
  PeerNetwork(const PeerNetwork&) = delete;
  PeerNetwork& operator=(const PeerNetwork&) = delete;

  // "127.0.0.1:0", "[::]:7600", "host:port"; gives the bound address. May be called for several. Errors name the
  // address: conflict (in use), unauthorised (privileged port), invalidInput (form, unknown host).
  Result<std::string> listen(const std::string& address);

  // Keeps a link to this address up, with backoff, until undial(). `key`: whom to expect there; else admit() decides. A
  // name that is dialled already gets the new address, key and purpose; its present link stays.
  void dial(const std::string& name, const std::string& address, std::optional<PublicKey> key,
            const std::string& purpose = std::string(kMemberPurpose));
  void undial(const std::string& name);  // dials no more; a link that is up stays

  // One link over bytes that the caller carries to the other device's carry() and back; tried once. Errors
  // (unavailable): no more file descriptors, the network is closed.
  Result<std::unique_ptr<Pipe>> carry(const CarriedLink& link, PipeEvents events);

  void trust(LinkId link);  // frames up to maxFrameBytes from now on
  // Sends 16 KiB that mean nothing: a path that lets only small packets pass answers no ping from then on.
  void probe(LinkId link);

  // Whole frames. False: no such link, or it is closing, or it was too slow and ends now (its queue was full).
  bool send(LinkId link, std::string frames);
  std::size_t queuedBytes(LinkId link) const;  // not yet taken by the operating system

  void close(LinkId link, std::string_view reason);  // sends what is queued and the reason, then ends; no more frames
  void drop(LinkId link);                            // at once, without a word
  // No more dials and no more accepts; every link is closed. Within closeTimeoutMs all are down.
  void close(std::string_view reason = "shutting down");

  // For handshakes from now on; links that are up stay.
  void setIdentity(const TlsIdentity& identity);

  // Whether the owner may log one more line that a stranger causes: they count with those of PeerEvents::log.
  bool mayLog();

  std::vector<LinkInfo> links() const;  // that are up, by id
  std::vector<DialInfo> dials() const;  // by name
  std::optional<LinkStats> stats(LinkId link) const;
  // Whether it is up, and PeerEvents::quiet would come if it ended now.
  bool quiet(LinkId link) const;

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace witan::net
