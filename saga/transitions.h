// Transitions: the state machine of one saga, as a table (seed 003, section 7, Flow C).
//
//   intended   the row is written, not yet durable          1. an intent, before anything is done
//   applying   the row is durable, the effect under way     2. "journal mutation commits first"
//   recording  the effect is durable, its outcome is not    3. "agent-domain action/result/state commits second"
//   done       both databases have the operation's record
//
// The table is total: each phase has an answer to each event, `refuse` where the event makes no sense there. It decides
// what happens; the engine (saga/saga_engine.h) only carries it out. Pure; any thread.
#pragma once

#include "saga/saga_rows.h"

namespace witan::saga {

WITAN_ENUM(SagaEvent,
           rowDurable,      // the row is on the disk
           carriedOut,      // the effect is durable, or was found to have been made before, or refused for good
           failed,          // an attempt failed, another one may succeed
           exhausted,       // the last attempt failed, or only a person can decide
           due,             // its time has come again
           outcomeDurable,  // the outcome and the end of the row are on the disk
           retried,         // a person says: again
           withdrawn,       // the run's surviving plan does not have it
           undone)          // its compensation has been carried out

WITAN_ENUM(SagaAct,
           refuse,  // the event makes no sense here: nothing changes
           apply,   // make the effect
           record,  // commit the outcome
           wait,    // until its next attempt
           park,    // out of the way, until a person says something
           finish,  // tell whoever waits, forget the row
           keep)    // nothing to do but to note it

struct Transition {
  SagaPhase phase = SagaPhase::intended;
  SagaStatus status = SagaStatus::running;  // of `done`: completed stands for what the outcome says
  SagaAct act = SagaAct::refuse;
};

// Total.
Transition transition(SagaPhase phase, SagaEvent event);

// The status with which a saga ends.
SagaStatus endOf(OperationOutcome outcome);

}  // namespace witan::saga
