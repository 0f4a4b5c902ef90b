# The program witan-sim: the simulator, with the broken variants of base/mutant.h compiled in for `witan sim mutants`.
#
# Only the files that ask for a variant are compiled twice. Their second objects stand before the rooms' archives on
# the linker's line, so it never takes the first ones from there; if it did, it would report every symbol as defined
# twice. Whoever adds a hook to another file adds that file here (tests/tidy looks).
set(WITAN_HOOKED_replication
  replication/local_replica.cpp
  replication/records/journal_entity.cpp
  replication/records/record_views.cpp
  replication/row_seals.cpp
  replication/space.cpp
  replication/space_sync.cpp
  replication/sync_session.cpp)
set(WITAN_HOOKED_kernel
  kernel/graph/runtime_schedule.cpp
  kernel/graph/runtime_state.cpp
  kernel/partition.cpp
  kernel/partition_fold.cpp)
set(WITAN_HOOKED_replica
  replica/advertisement_exchange.cpp
  replica/base_transfer.cpp
  replica/copy_pruning.cpp
  replica/copy_release.cpp
  replica/core/ledger_writes.cpp
  replica/core/log_hash_chain.cpp
  replica/core/log_head.cpp
  replica/core/outbox.cpp
  replica/core/owner_proofs.cpp
  replica/core/owner_table.cpp
  replica/core/partition_host.cpp
  replica/core/partition_table.cpp
  replica/core/placement.cpp
  replica/core/replica_state.cpp
  replica/core/request_proofs.cpp
  replica/entry_replicator.cpp
  replica/graph_runtime.cpp
  replica/graph_triggers.cpp
  replica/graph_work.cpp
  replica/head_exchange.cpp
  replica/ledger_watch.cpp
  replica/mesh.cpp
  replica/ownership/embedded_ownership.cpp
  replica/ownership/etcd_engine.cpp
  replica/ownership/ownership_engine.cpp
  replica/peer_sessions.cpp
  replica/replica.cpp
  replica/request_router.cpp
  replica/sealed_copies.cpp)
set(WITAN_HOOKED_agents
  agents/episode/context.cpp
  agents/episode/episode.cpp
  agents/host/agent_host.cpp
  agents/host/agent_sagas.cpp
  agents/host/agent_standing.cpp
  agents/host/device_gate.cpp
  agents/host/host_people.cpp
  agents/host/record_audit.cpp
  agents/host/run_retention.cpp
  agents/host/standing.cpp
  agents/memory/compactor.cpp
  agents/policy/monitor.cpp
  agents/policy/projection.cpp
  agents/wake/agent_conflict.cpp
  agents/wake/wake_center.cpp
  agents/wake/wake_hold.cpp
  agents/wake/wake_queue.cpp
  agents/wake/wake_timers.cpp)
set(WITAN_HOOKED_saga
  saga/journal_effect.cpp
  saga/saga_engine.cpp
  saga/saga_rows.cpp)
set(WITAN_HOOKED_domains
  domains/disclosure/publication.cpp
  domains/escrow/invariants.cpp
  domains/joint/epoch.cpp
  domains/joint/invariants.cpp
  domains/moderation/enforcement.cpp
  domains/verification/invariants.cpp)
set(WITAN_HOOKED_market
  market/buyer_desk.cpp
  market/holder_desk.cpp
  market/seller_desk.cpp)
set(WITAN_HOOKED_node
  node/cluster/admin_acts.cpp
  node/cluster/scope_keys.cpp)
set(WITAN_HOOKED_sim
  sim/mutants.cpp)

foreach(room replication kernel replica saga agents domains market node sim)
  list(TRANSFORM WITAN_HOOKED_${room} PREPEND ${CMAKE_SOURCE_DIR}/)
  set_source_files_properties(${WITAN_HOOKED_${room}} PROPERTIES WITAN_UNITY_GROUP ${room}_hooked)
endforeach()

# Object libraries witan_<room>_hooked: whoever links one links the room too.
function(witan_hooked_rooms)
  foreach(room replication kernel replica saga agents domains market node sim)
    witan_unity(sources ${room}_hooked ${WITAN_HOOKED_${room}})
    add_library(witan_${room}_hooked OBJECT ${sources})
    target_compile_definitions(witan_${room}_hooked PUBLIC WITAN_MUTANTS)
    target_link_libraries(witan_${room}_hooked PUBLIC witan_${room})
    target_precompile_headers(witan_${room}_hooked REUSE_FROM witan_prelude)
    target_compile_options(witan_${room}_hooked PRIVATE -fpch-preprocess)
  endforeach()
endfunction()
