// MembershipInquiry: asks other devices whether it was revoked, where none of them lets this device in.
//
// Members refuse the links of a device that was revoked before a frame passes: what it says must reach nothing, and a
// link of members is made for replicas. So one that was away at its revocation would hear of it nowhere. It asks over a
// link for joining, which every device may have and which carries one question and one answer. The answer is the
// admin's signed word for its revocation, and nothing of the others (node/cluster/revocation.h). So no other device
// makes this one believe that it was revoked.
//
// The same where a key was replaced and the roster that names it is on one side only. Who is refused offers the roster
// that is here. And where the others have new keys, it asks whatever key is at their addresses, without a name and an
// offer.
//
// Belongs to its loop's thread. Loop and roster store outlive it; `changed` is called from the loop, after a newer
// roster or such a word was taken, and may destroy nothing of this.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/peer_network.h"
#include "node/cluster/device_key.h"
#include "node/cluster/messages.h"
#include "node/cluster/roster_store.h"

namespace witan::node {

class MembershipInquiry {
 public:
  // `refused`: another device says that this one has another key by now, in its own words.
  MembershipInquiry(net::Loop& loop, RosterStore& rosters, std::function<void()> changed,
                    std::function<void(const std::string& why)> refused = {})
      : loop_(loop), rosters_(rosters), changed_(std::move(changed)), refused_(std::move(refused)) {}

  // Asks a few of the other devices, each time the next ones; what was asked before is over. `expecting`: by the keys
  // that the roster has. `proof`: of who signs rosters (adminProofText); empty: another device. Errors: of the key.
  Status ask(const SigningKey& key, bool expecting, std::vector<std::uint8_t> proof = {});
  // It has been let in, or ends.
  void stop() { network_.reset(); }

 private:
  net::PeerEvents events();
  void receive(net::LinkId link, std::string_view frame);
  Result<bool> take(const JoinAnswer& answer);

  net::Loop& loop_;
  RosterStore& rosters_;
  const std::function<void()> changed_;
  const std::function<void(const std::string&)> refused_;
  std::unique_ptr<net::PeerNetwork> network_;
  std::string device_, name_;  // as it asks
  std::vector<std::uint8_t> proof_;
  bool expecting_ = true;
  std::size_t next_ = 0;
};

}  // namespace witan::node
