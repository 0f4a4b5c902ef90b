// Whether one roster follows another: by the versions that it names, by the acts of the admins, and by what no signer
// may do. Pure functions, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "node/cluster/roster.h"

namespace witan::node {

// The name by which later rosters name this one. `document`: its signed bytes.
RosterLink linkOf(const Roster& roster, std::string_view document);
// What the next roster says of those before it; `link`: this one's.
std::vector<RosterLink> linksAfter(const Roster& roster, const RosterLink& link);
// Everything that can be wrong with them in a roster of this version.
Status checkRosterLinks(const std::vector<RosterLink>& links, std::uint64_t version);

// What `theirs` is to `mine`, of one key. parts: neither follows the other, so the key's device went back to an older
// copy. Where the later one does not reach back so far, or is of an older program, what it keeps of the earlier
// decides.
enum class Lineage { follows, precedes, parts };
Lineage lineageOf(const Roster& mine, const RosterLink& my, const Roster& theirs, const RosterLink& their);

// Of rosters that part: whether `after` lets somebody in whom `before` has revoked, or has an earlier key of a member.
bool revives(const Roster& before, const Roster& after);
// Whether a member of both has a role by `mine` alone.
bool givesMore(const Roster& mine, const Roster& theirs);

// Whether the acts that only `after` has name who signs.
bool hasNewSigner(const Roster& before, const Roster& after);
// Negative: by its acts `theirs` counts less than `mine`; positive: more. Errors: it cannot be told.
Result<int> compareActs(const Roster& mine, const Roster& theirs);

// Where admins act together, who signs rosters can take no device out by leaving it out, nor let any in again, nor
// give the role `takeover` again or take a role away without a new act; and the first act settles nothing that did not
// stand there. Who signs by another key from now on need not keep what the key before, which may be stolen, gave
// meanwhile; what the admins did stays.
Status checkFollows(const Roster& before, const Roster& after);

// Of a device whose name another one has.
std::string longerName(std::string_view name, std::string_view device);

// How an answer begins to who comes with such a key.
inline constexpr std::string_view kKeyReplaced = "this device has another key by now";
// What to do then.
inline constexpr std::string_view kNewerBackup =
    "restore a backup of after that, or revoke this device and join from a new directory with an invitation";
// What the key that signs rosters signs for a device with such a key, so that members hand it their roster.
std::string adminProofText(std::string_view cluster, const PublicKey& device);

Error refusedRoster(std::string what, std::string hint = {});
std::string deviceInWords(const RosterDevice& device);

// Of a roster without persons, none.
const std::vector<RosterPerson>& personsOf(const Roster& roster);
// How many acts both begin with.
std::size_t actsInCommon(const Roster& one, const Roster& other);
// Under which entry of `after` the person stands: that of its name, or where two histories gave one name to two keys,
// that of the longer name with its first key. Null: none.
const RosterPerson* standsFor(const Roster& after, const RosterPerson& was);
// Whether an act is about this device or person.
bool concerns(const AdminAct& act, std::string_view whose);
// Whose key it was, and is no more. Null: nobody's.
const RosterDevice* hadKey(const Roster& roster, const PublicKey& key);
// Whether it has no scope of its own and its roles open all of them.
bool hasAllScopes(const RosterDevice& device);

}  // namespace witan::node
