# The program witan-mutants: witan with the broken variants of base/mutant.h, for `witan sim mutants`.
#
# Only the files that ask for a variant are compiled twice. Their second objects stand before the rooms' archives on
# the linker's line, so it never takes the first ones from there; if it did, it would report every symbol as defined
# twice. Whoever adds a hook to another file adds that file here (tests/tidy looks).
set(WITAN_HOOKED_replication
  replication/body_check.cpp
  replication/local_replica.cpp
  replication/space.cpp
  replication/space_sync.cpp
  replication/sync_session_data.cpp)
set(WITAN_HOOKED_kernel
  kernel/partition.cpp
  kernel/partition_fold.cpp)
set(WITAN_HOOKED_node_replica
  node/replica/etcd_engine.cpp
  node/replica/ledger_watch.cpp
  node/replica/log_chain.cpp
  node/replica/outbox.cpp
  node/replica/owner_table.cpp
  node/replica/partition_host.cpp
  node/replica/replica.cpp
  node/replica/replica_follow.cpp
  node/replica/replica_route.cpp)
set(WITAN_HOOKED_agents
  agents/episode/context.cpp
  agents/episode/episode.cpp
  agents/episode/episode_call.cpp
  agents/episode/quota.cpp
  agents/host/device_gate.cpp
  agents/policy/monitor.cpp
  agents/wake/wake_center.cpp
  agents/wake/wake_queue.cpp)
set(WITAN_HOOKED_saga
  saga/saga_engine.cpp
  saga/saga_repair.cpp)
set(WITAN_HOOKED_domains
  domains/disclosure/publication.cpp
  domains/joint/epoch.cpp
  domains/joint/invariants.cpp
  domains/moderation/enforcement.cpp
  domains/verification/invariants.cpp)
set(WITAN_HOOKED_sim
  sim/active_mutant.cpp)

# Object libraries witan_<room>_hooked: whoever links one links the room too.
foreach(room replication kernel node_replica saga agents domains sim)
  list(TRANSFORM WITAN_HOOKED_${room} PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE hooked)
  set_source_files_properties(${hooked} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(witan_${room}_hooked OBJECT ${hooked})
  target_compile_definitions(witan_${room}_hooked PUBLIC WITAN_MUTANTS)
  target_link_libraries(witan_${room}_hooked PUBLIC witan_${room})
endforeach()

add_executable(witan-mutants node/main.cpp)
target_link_libraries(witan-mutants PRIVATE
  witan_replication_hooked witan_kernel_hooked witan_node_replica_hooked witan_saga_hooked witan_agents_hooked
  witan_domains_hooked witan_sim_hooked witan_node)
