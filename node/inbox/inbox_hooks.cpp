#include "node/inbox/inbox_hooks.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/time.h"
#include "net/child_process.h"
#include "net/http_client.h"
#include "node/tools/tool_address.h"

namespace witan::node {

namespace {

constexpr std::size_t kToldAtOnce = 4;
constexpr std::int64_t kFirstTellMs = 1'000, kLastTellMs = 3'600'000;
constexpr std::string_view kToldRows = "inbox/told/";

std::string mailOf(const std::string& to, const std::string& device, const InboxPlace& item) {
  return concat("To: ", to, "\nSubject: [witan] ", item.id.substr(0, item.id.find(':')), " waits on ", device,
                "\nContent-Type: text/plain; charset=utf-8\n\n", item.id, " waits for a person on ", device,
                item.atMs > 0 ? " since " + formatTime({item.atMs * 1000}) : std::string(), ".\nwitan inbox '", item.id,
                "' shows it, and takes the answer.\n");
}

std::vector<std::string> variables(std::initializer_list<const char*> names) {
  std::vector<std::string> set;
  for (const char* name : names)
    if (const char* value = std::getenv(name)) set.push_back(concat(name, "=", value));
  return set;
}

}  // namespace

struct InboxHooks::Hook {
  HookConfig config;
  const Secret* secret = nullptr;
  std::string path;
  std::unique_ptr<net::HttpClient> client;
  std::deque<InboxPlace> waiting;
  std::map<std::string, std::unique_ptr<net::ChildProcess>> underWay;  // by id; null: a request
  std::set<std::string> left;                                          // items that have gone meanwhile
  std::int64_t retryMs = kFirstTellMs;
  net::Loop::TimerId timer = 0;  // it waits for the next attempt
};

InboxHooks::InboxHooks(Place place) : place_(std::move(place)) {}

InboxHooks::~InboxHooks() {
  for (const auto& hook : hooks_)
    if (hook->timer != 0) place_.loop.cancel(hook->timer);
}

Result<std::unique_ptr<InboxHooks>> InboxHooks::open(Place place, const std::vector<HookConfig>& configs,
                                                     const agents::SecureStore& secrets) {
  std::unique_ptr<InboxHooks> made(new InboxHooks(std::move(place)));
  for (const HookConfig& config : configs) {
    auto hook = std::make_unique<Hook>();
    hook->config = config;
    if (!config.mail.empty()) hook->config.command = {"sendmail", "-t", "-i"};
    if (!config.secret.empty() && (hook->secret = secrets.find(config.secret)) == nullptr)
      return notFound(concat(config.place, ": [hook.", config.name, "] there is no secret ", inQuotes(config.secret)),
                      "witan secret set " + config.secret);
    if (!config.url.empty()) {
      WITAN_TRY(address, toolAddress(config.url));
      hook->path = address.path;
      hook->client = std::make_unique<net::HttpClient>(
          made->place_.loop, address.endpoint, net::HttpClientOptions{.maxBodyBytes = 64 * 1024, .timeoutMs = 10'000});
    }
    made->hooks_.push_back(std::move(hook));
  }
  return made;
}

std::string InboxHooks::rowOf(const Hook& hook, const std::string& id) {
  return concat(kToldRows, hook.config.name, "/", id);
}

std::string InboxHooks::bodyOf(const InboxPlace& item) const {
  json::object body{{"id", item.id}, {"kind", item.id.substr(0, item.id.find(':'))}, {"device", place_.device}};
  if (item.atMs > 0) body["at"] = formatTime({item.atMs * 1000});
  return canonicalJson(body);
}

void InboxHooks::come(const InboxPlace& item) {
  for (const auto& hook : hooks_) {
    const std::vector<std::string>& kinds = hook->config.kinds;
    if (!kinds.empty() && std::ranges::find(kinds, item.id.substr(0, item.id.find(':'))) == kinds.end()) continue;
    const auto known = place_.rows.meta(rowOf(*hook, item.id));
    if ((known.ok() && *known) || hook->underWay.contains(item.id)) continue;
    hook->waiting.push_back(item);
    tell(*hook);
  }
}

void InboxHooks::gone(const std::string& id) {
  for (const auto& hook : hooks_) {
    std::erase_if(hook->waiting, [&](const InboxPlace& one) { return one.id == id; });
    if (hook->underWay.contains(id)) hook->left.insert(id);
    const auto known = place_.rows.meta(rowOf(*hook, id));
    if (known.ok() && *known) place_.rows.eraseMeta(rowOf(*hook, id)), place_.changed();
  }
}

void InboxHooks::asks(const std::string& graph, std::set<std::string> ids) {
  const std::set<std::string> before = std::exchange(asked_[graph], std::move(ids));
  const std::set<std::string>& now = asked_[graph];
  for (const std::string& id : before)
    if (!now.contains(id)) gone(id);
  for (const std::string& id : now)
    if (!before.contains(id)) come({0, id});
}

Status InboxHooks::forgetOthers(const std::function<bool(const std::string& id)>& waits) {
  std::vector<std::string> rows;
  WITAN_DO(place_.rows.scanMeta(kToldRows, [&](std::string_view row, std::string_view) {
    const std::size_t slash = row.find('/', kToldRows.size());
    if (slash == row.npos || !waits(std::string(row.substr(slash + 1)))) rows.emplace_back(row);
    return true;
  }));
  for (const std::string& row : rows) place_.rows.eraseMeta(row);
  return okStatus();
}

void InboxHooks::tell(Hook& hook) {
  while (hook.timer == 0 && hook.underWay.size() < kToldAtOnce && !hook.waiting.empty()) {
    const InboxPlace item = std::move(hook.waiting.front());
    hook.waiting.pop_front();
    std::unique_ptr<net::ChildProcess>& child = hook.underWay[item.id];
    const std::string body = bodyOf(item);
    if (hook.client) {
      net::HttpRequest request{.method = "POST", .target = hook.path};
      request.headers = {{"content-type", "application/json"}, {"witan-item", item.id}};
      if (hook.secret != nullptr)
        request.headers["witan-signature"] = "sha256=" + toHex(hmacSha256(hook.secret->reveal(), body));
      request.body = body;
      hook.client->request(std::move(request), [this, &hook, item](const Result<net::HttpResponse>& answer) {
        Status done = answer.ok() ? okStatus() : Status(answer.error());
        if (answer.ok() && answer->status / 100 != 2) done = unavailable(concat("HTTP ", answer->status));
        if (!done.ok() && !hook.left.contains(item.id)) hook.waiting.push_back(item);
        told(hook, item.id, done);
      });
      continue;
    }
    net::ChildEvents events{.out = [](std::string_view) {}, .err = [](std::string_view) {}, .ended = {}};
    events.ended = [this, &hook, item](const std::string& how) {
      const Status done = how == "exit code 0" ? okStatus() : Status(unavailable("the command has ended: " + how));
      if (!done.ok() && !hook.left.contains(item.id)) hook.waiting.push_back(item);
      told(hook, item.id, done);
    };
    auto started = net::ChildProcess::start(
        place_.loop, {.command = hook.config.command, .environment = variables({"PATH", "HOME", "LANG"})},
        std::move(events));
    if (!started.ok()) {
      hook.waiting.push_back(item);
      told(hook, item.id, started.error());
      continue;
    }
    child = *std::move(started);
    (void)child->send(hook.config.mail.empty() ? body + "\n" : mailOf(hook.config.mail, place_.device, item));
    child->closeInput();
  }
}

void InboxHooks::told(Hook& hook, const std::string& id, const Status& done) {
  hook.underWay.erase(id);
  const bool left = hook.left.erase(id) > 0;
  if (!done.ok()) {
    place_.log.warn("inbox", "a hook was not told",
                    {{"hook", hook.config.name}, {"item", id}, {"why", done.error().message}});
    return retryLater(hook);
  }
  hook.retryMs = kFirstTellMs;
  if (!left) place_.rows.putMeta(rowOf(hook, id), "1"), place_.changed();
  tell(hook);
}

void InboxHooks::retryLater(Hook& hook) {
  if (hook.timer != 0) return;
  hook.timer = place_.loop.after(hook.retryMs, [this, &hook] {
    hook.timer = 0;
    tell(hook);
  });
  hook.retryMs = std::min(hook.retryMs * 2, kLastTellMs);
}

}  // namespace witan::node
