# The seeds that every test run tries: some of each scenario, by the program itself, under whatever sanitizer it was
# built with. Each run makes part of its seeds twice and compares. About half a minute on two cores.
function(witan_seeds scenario seeds)
  add_test(NAME seeds.${scenario} COMMAND witan-sim run ${scenario} --seeds 1..${seeds} --jobs 2)
  set_tests_properties(seeds.${scenario} PROPERTIES TIMEOUT 900 PROCESSORS 2 LABELS process)
endfunction()

witan_seeds(everything 200)
witan_seeds(month-offline 1)
witan_seeds(weeks 1)
witan_seeds(undone 10)
witan_seeds(rivals 20)
witan_seeds(deadlines 20)
witan_seeds(many 5)
witan_seeds(mesh 5)
foreach(scenario agents backup calm canary clock-chaos commons contrary disk-lost domains drawer etcd etcd-busy etcd-small flapping gossip handovers heralds hostile-peer keeper keepers lossy owner-dies pruned rocksdb rollback split-brain watchers)
  witan_seeds(${scenario} 20)
endforeach()

# Recorded plans of mended bugs: the program passes each.
foreach(plan
    calledAgainAfterItsEndWasTakenBack
    claimToldToOneDevice
    endTakenBack
    equivocationBesideAnUnknownWriter
    eventUnderAUsedDot
    firstAnswerAfterTheSecond
    firstWordOfABeginningAfterTheSecond
    flippedBitOfALength
    handedOverBesideASeizure
    headsLostWithThePower
    hearsOfARepair
    hearsWhatItSigned
    lateFromAnOlderCopy
    nameOfAnotherMessage
    newcomerOfAnOlderCopy
    olderCopyAmidAComparison
    olderRemovalAfterALater
    outcomeBeforeItsEffect
    ownChangeBesideARepair
    ownerThatWentBackBehindABase
    pausedAfterABrokenStep
    plannedBehindAPausedRun
    removedUnderAUsedDot
    replacedByOneOfTwoContents
    restoredBeforeItMet
    seizedBehindADeadLink
    seizedBesideARefusedPosition
    seizedOnAFullDisk
    seizedTwiceInAStep
    tombstoneUnderAUsedDot
    unseenBesideALoser
    writeAmidATakeover)
  add_test(NAME plans.${plan} COMMAND witan-sim replay --plan ${CMAKE_CURRENT_SOURCE_DIR}/sim/cases/${plan}.plan)
  set_tests_properties(plans.${plan} PROPERTIES TIMEOUT 120 LABELS process)
endforeach()

# Recorded plans of a device that lies: without one check a checker notices it, with it nothing happens.
function(witan_lies checker)
  foreach(mutant ${ARGN})
    set(plan ${CMAKE_CURRENT_SOURCE_DIR}/sim/cases/lies/${mutant}.plan)
    add_test(NAME lies.${mutant} COMMAND witan-sim replay --plan ${plan} --mutant ${mutant} --json)
    set_tests_properties(lies.${mutant} PROPERTIES TIMEOUT 60 LABELS process
      PASS_REGULAR_EXPRESSION "\"checker\":\"${checker}\"")
    add_test(NAME lies.${mutant}.IsRefused COMMAND witan-sim replay --plan ${plan})
    set_tests_properties(lies.${mutant}.IsRefused PROPERTIES TIMEOUT 60 LABELS process)
  endforeach()
endfunction()
witan_lies(lies claimUnsigned anyTaker oldClaim anySeal followBlindly anyProposer requestUnsigned truncateUnproven
  answerWithoutEntry anyHolder ignoreHeads anyHead anyProof accuseOwner)
witan_lies(alarms anyCounter)
