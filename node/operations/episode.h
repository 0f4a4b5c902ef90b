// Operations on transcripts of agents' runs.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(EpisodeRow, (std::string, run, "Key of the run"), (std::string, device, "Device that ran it"),
             (std::string, agent, "Agent"), (std::string, version, "Version of the agent"),
             (std::string, status, "How the run ended"), (std::string, cause, "Cause of the end"),
             (std::uint64_t, entries, "Number of entries held"))

WITAN_STRUCT(Episodes, (std::vector<EpisodeRow>, episodes, "Transcripts"))

WITAN_STRUCT(EpisodeRequest, (std::string, run, "Key of the run, or its first digits", 1),
             (Omittable<std::string>, device, "Device whose transcript is meant"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(Transcript, (std::vector<json::value>, entries, "Entries, any JSON"))

WITAN_STRUCT(EpisodeDifference, (std::uint64_t, entry, "Number of the entry"), (std::string, why, "How it differs"),
             (json::value, recorded, "Recorded entry, as JSON text; empty: none"),
             (json::value, derived, "Derived entry, as JSON text; empty: none"))

WITAN_STRUCT(EpisodeReplay, (std::string, run, "Key of the run"), (std::string, device, "Device that ran it"),
             (std::uint64_t, entries, "Number of recorded entries"),
             (bool, ended, "Whether the last entry ends the run"), (bool, reproduced, "Whether no entry differs"),
             (Omittable<EpisodeDifference>, difference, "The first difference"))

Result<Episodes> listEpisodes(OperationContext& context, const ScopeRequest& request);
Result<Transcript> showEpisode(OperationContext& context, const EpisodeRequest& request);
Result<EpisodeReplay> replayEpisode(OperationContext& context, const EpisodeRequest& request);

inline constexpr Operation kEpisodeList{"GET", "/v1/episode/list", listEpisodes};
inline constexpr Operation kEpisodeShow{"GET", "/v1/episode/show", showEpisode};
inline constexpr Operation kEpisodeReplay{"GET", "/v1/episode/replay", replayEpisode};

}  // namespace witan::node::operations
