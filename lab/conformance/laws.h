// The laws of the episode kernel as checks of what happened: a history of steps and the transcripts on the disk (seed
// 004, section 3.2 and the appendix). They know nothing of how episodes work, so they also judge made-up histories,
// which is how each is shown to be able to fail. Pure; the error says what is against the law. O(history).
#pragma once

#include "lab/conformance/toy.h"

namespace witan::agents::conformance {

// Law 1: whatever was done outside had been announced under its span and let pass, and every answer that the agent was
// given belongs to such an announcement.
Status effectsAreContained(const ToyDisk& disk);

// Law 2 and the finding on it: on each device the announcement was on the disk before the effect, the plan before the
// first action; and an outcome stands behind its announcement.
Status auditedBeforeMutation(const ToyDisk& disk);

// Law 3: what was spent never shrinks, never exceeds the limit, and is what the end says.
Status quotaIsMonotone(const ToyDisk& disk);

// Law 4: no call that passed takes data to where the episode's locale does not reach; no fork reaches further.
Status localeOnlyNarrows(const ToyDisk& disk);

// Exactly once: each operation that ended as applied changed the world, none changed it twice, and of none that did it
// was nobody told.
Status appliedExactlyOnce(const ToyDisk& disk);

}  // namespace witan::agents::conformance
