// Laws 1 to 5 and experiments 1, 4, 5 and 6 of seed 004 on AgentHost (lab/conformance/running_host.h), and the test
// obligations of seed 003, section 11 (lab/conformance/foundation_checks.cpp). Rows of `witan conformance kernels`.
#pragma once

#include "lab/conformance/kernels.h"
#include "lab/conformance/running_host.h"

namespace witan::agents::conformance {

// The law over the lives of many toys on AgentHost, each whole; then with the power gone at a write.
using Law = Status (*)(const ToyDisk&);
Finding holdsOnHosts(Law law);
Finding narrowedOnHosts();

Finding replayOfHosts();
Finding onceOnHosts();
Finding doublesOnHostsShow();
Finding attemptsAreInTheLedger();
Finding unseenAttemptShows();
Finding leastPrivilege();
Finding widePrivilegeShows();
Finding losersAreUndone();
Finding lostUndoShows();

Finding changeKeysAreCanonical();
Finding unsortedKeysShow();
Finding coalescingKeepsKeys();
Finding merelyNearShows();
Finding tokensAreTyped();
Finding looseParserShows();
Finding slotsMergeAlike();
Finding lastWriterShows();
Finding replayedKeysDoNothing();
Finding forgottenRunShows();
Finding databasesAgree();
Finding halfASagaShows();
Finding gatesFailClosed();
Finding openGateShows();

}  // namespace witan::agents::conformance
