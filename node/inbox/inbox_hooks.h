// InboxHooks: tells webhooks, programs and mail boxes that something new waits for a person. It tells that, and not
// what agents and people wrote: {"id", "kind", "at", "device"}. `witan inbox ID` shows the rest.
//
// Each hook is told of each item at least once: a row beside the records says of which it was told, also after a
// restart. One that cannot be told is tried again, later and later, as long as the item waits. A webhook gets the JSON
// by POST, with "witan-item: ID" and, if it has a secret, "witan-signature: sha256=HMAC-SHA256(secret, body) in hex".
//
// Belongs to a Daemon, on its loop's thread; loop, log, database and configuration outlive it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/policy/secure_store.h"
#include "net/loop.h"
#include "node/config/hook_config.h"
#include "node/inbox/inbox_index.h"
#include "node/telemetry/log.h"
#include "replication/database.h"

namespace witan::node {

class InboxHooks {
 public:
  // `rows`: where it is kept of what the hooks were told. `changed`: rows were written.
  struct Place {
    net::Loop& loop;
    Log& log;
    replication::Database& rows;
    std::string device;
    std::function<void()> changed;
  };
  // Errors: a url; a secret that is not there; of the database.
  static Result<std::unique_ptr<InboxHooks>> open(Place place, const std::vector<HookConfig>& hooks,
                                                  const agents::SecureStore& secrets);
  ~InboxHooks();

  void come(const InboxPlace& item);
  void gone(const std::string& id);
  // All that the runs of a graph ask now.
  void asks(const std::string& graph, std::set<std::string> ids);
  // All that waits has come: rows of others go.
  Status forgetOthers(const std::function<bool(const std::string& id)>& waits);

 private:
  struct Hook;
  explicit InboxHooks(Place place);
  void tell(Hook& hook);
  void told(Hook& hook, const std::string& id, const Status& done);
  void retryLater(Hook& hook);
  static std::string rowOf(const Hook& hook, const std::string& id);
  std::string bodyOf(const InboxPlace& item) const;

  Place place_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::map<std::string, std::set<std::string>> asked_;  // ids of questions, by graph
};

}  // namespace witan::node
