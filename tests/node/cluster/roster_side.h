// A device with its copy of the roster, for tests of rosters that part.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "node/cluster/admin_acts.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/replica_dir.h"
#include "node/enrolment/enrolment_service.h"
#include "node/enrolment/joining.h"
#include "tests/node/scratch.h"

namespace witan::node::roster_parted_test {

using test::Scratch;

inline constexpr Time kNow{1'700'000'000'000'000};
inline const std::vector<std::string> kAll{"ledger", "*", "takeover"}, kCounselor{"moderation.counselor"};

inline SigningKey keyOf(char seed) { return *SigningKey::fromSeed(std::string(32, seed)); }
inline std::string idOf(char seed) { return deviceIdOf(keyOf(seed).publicKey()); }

// A first device's directory that no node has open.
struct AtRest {
  std::string dir;
};

// A device with its copy of the roster; with the admin's key, which signs it.
struct Side {
  explicit Side(const std::string& document, bool signs = true)
      : rosters(*RosterStore::create(scratch / "", keyOf('#').publicKey(), document)),
        desk(std::move(*EnrolmentService::open(scratch / "", rosters, std::string(32, 'k'), 8,
                                               signs ? std::optional(keyOf('#')) : std::nullopt))) {}

  explicit Side(const AtRest& at)
      : admin(*readKey(at.dir, KeyName::admin)),
        rosters(*RosterStore::open(at.dir, admin.publicKey())),
        desk(std::move(*EnrolmentService::open(at.dir, rosters, *readClusterSecret(at.dir), 1, admin))) {}

  void admit(char seed, const std::vector<std::string>& roles = {"ledger", "*"}, std::string name = {}) {
    const JoinRequest request{"", "", name.empty() ? concat("device-", seed) : name, {}, {}};
    ASSERT_EQ(desk.onJoin(request, keyOf(seed).publicKey(), concat("10.0.0.", seed, ":1"), kNow).verdict,
              JoinVerdict::pending);
    const auto done = desk.approve(idOf(seed), roles, {}, kNow);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  std::string invite() {
    SystemRandom random;
    const std::vector<std::string> here{"127.0.0.1:7600"};
    InviteOptions options{.roles = {"ledger", "*"}, .scopes = {}};
    options.uses = 9;
    return *desk.invite(options, here, keyOf('f').publicKey(), kNow, random);
  }
  JoinAnswer join(char seed, const std::string& invitation) {
    const JoinToken token = *readToken(invitation);
    return desk.onJoin({token.id, token.secret, concat("device-", seed), {}, {}}, keyOf(seed).publicKey(), "10.0.0.9:1",
                       kNow);
  }
  void change(const std::function<Status(Roster&)>& edit) {
    const Status done = desk.change(edit);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  void site(char seed, const std::string& where) {
    change([&](Roster& roster) { return roster.find(idOf(seed))->site = where, okStatus(); });
  }
  const Roster& roster() const { return rosters.current(); }
  const RosterDevice& device(char seed) const { return *roster().find(idOf(seed)); }

  Scratch scratch;
  SigningKey admin = keyOf('#');
  RosterStore rosters;
  EnrolmentService desk;
};

inline void apply(Side& side, AdminAct act, const std::string& by) {
  act.number = side.rosters.admins().acts + 1;
  act.expires = Time{kNow.micros + 1'000'000};
  for (const char name : by) approveAct(side.roster().cluster, act, name == '#' ? side.admin : keyOf(name));
  const Status done = side.desk.apply(act, kNow);
  ASSERT_TRUE(done.ok()) << done.error().message;
}

// x, y and z, two of them together.
inline void agree(Side& side) {
  AdminAct act{1, ActKind::admins, ""};
  for (const char name : {'x', 'y', 'z'}) act.admins.push_back({std::string(1, name), toHex(keyOf(name).publicKey())});
  act.approvals = 2, act.settled = actsNeededBy(side.roster());
  apply(side, act, "#");
}

}  // namespace witan::node::roster_parted_test
