// Operations on transcripts of agents' runs.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

struct EpisodeListRequest {
  Omittable<std::string> scope;
  WITAN_MEMBERS(EpisodeListRequest, scope)
  static constexpr std::array notes{MemberNote{"scope", "Scope of the database; default: main"}};
};

struct EpisodeRow {
  std::string run;
  std::string device;
  std::string agent;
  std::string version;
  std::string status;
  std::string cause;
  std::uint64_t entries = 0;
  WITAN_MEMBERS(EpisodeRow, run, device, agent, version, status, cause, entries)
  static constexpr std::array notes{MemberNote{"run", "Key of the run"},
                                    MemberNote{"device", "Device that ran it"},
                                    MemberNote{"agent", "Agent"},
                                    MemberNote{"version", "Version of the agent"},
                                    MemberNote{"status", "How the run ended"},
                                    MemberNote{"cause", "Cause of the end"},
                                    MemberNote{"entries", "Number of entries held"}};
};

struct Episodes {
  std::vector<EpisodeRow> episodes;
  WITAN_MEMBERS(Episodes, episodes)
  static constexpr std::array notes{MemberNote{"episodes", "Transcripts"}};
};

struct EpisodeRequest {
  std::string run;
  Omittable<std::string> device;
  Omittable<std::string> scope;
  WITAN_MEMBERS(EpisodeRequest, run, device, scope)
  static constexpr std::array notes{MemberNote{"run", "Key of the run, or its first digits", 1},
                                    MemberNote{"device", "Device whose transcript is meant"},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct Transcript {
  std::vector<json::value> entries;
  WITAN_MEMBERS(Transcript, entries)
  static constexpr std::array notes{MemberNote{"entries", "Entries, any JSON"}};
};

struct EpisodeDifference {
  std::uint64_t entry = 0;
  std::string why;
  json::value recorded;
  json::value derived;
  WITAN_MEMBERS(EpisodeDifference, entry, why, recorded, derived)
  static constexpr std::array notes{MemberNote{"entry", "Number of the entry"}, MemberNote{"why", "How it differs"},
                                    MemberNote{"recorded", "Recorded entry, as JSON text; empty: none"},
                                    MemberNote{"derived", "Derived entry, as JSON text; empty: none"}};
};

struct EpisodeReplay {
  std::string run;
  std::string device;
  std::uint64_t entries = 0;
  bool ended = false;
  bool reproduced = false;
  Omittable<EpisodeDifference> difference;
  WITAN_MEMBERS(EpisodeReplay, run, device, entries, ended, reproduced, difference)
  static constexpr std::array notes{MemberNote{"run", "Key of the run"},
                                    MemberNote{"device", "Device that ran it"},
                                    MemberNote{"entries", "Number of recorded entries"},
                                    MemberNote{"ended", "Whether the last entry ends the run"},
                                    MemberNote{"reproduced", "Whether no entry differs"},
                                    MemberNote{"difference", "The first difference"}};
};

Result<Episodes> listEpisodes(OperationContext& context, const EpisodeListRequest& request);
Result<Transcript> showEpisode(OperationContext& context, const EpisodeRequest& request);
Result<EpisodeReplay> replayEpisode(OperationContext& context, const EpisodeRequest& request);

inline constexpr Operation kEpisodeList{"GET", "/v1/episode/list", listEpisodes};
inline constexpr Operation kEpisodeShow{"GET", "/v1/episode/show", showEpisode};
inline constexpr Operation kEpisodeReplay{"GET", "/v1/episode/replay", replayEpisode};

}  // namespace witan::node::operations
