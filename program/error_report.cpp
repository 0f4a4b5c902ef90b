#include "program/error_report.h"

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "program/output.h"

namespace witan::node {

namespace {
constexpr std::size_t kMostShown = 100;
}  // namespace

int reportError(const Error& error, bool json) {
  if (json) {
    std::string out = "{\"error\":{\"code\":";
    appendJsonString(out, toString(error.code));
    out += ",\"message\":";
    appendJsonString(out, error.message);
    out += ",\"hint\":";
    appendJsonString(out, error.hint);
    putErr(out + "}}\n");
  } else {
    putErr("witan: " + error.message + (error.hint.empty() ? "" : ": ") + error.hint + "\n");
  }
  return error.code == ErrorCode::unavailable ? kExitUnreachable : kExitFailed;
}

int parseAndReport(Command& app, int argc, char** argv) {
  const auto failure = app.parse(argc, argv);
  if (!failure) return app.exitCode();
  const bool json = std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc;
  return reportUsage(invalid(failure->message, failure->hint), json);
}

int reportUsage(const Error& error, bool json) {
  (void)reportError(error, json);
  return kExitUsage;
}

void ImportErrors::add(const Error& error) {
  if (++count_ <= kMostShown) reportError(error, json_);
}

void ImportErrors::finish() const {
  if (count_ > kMostShown) reportError(invalid(concat("... and ", count_ - kMostShown, " more refused")), json_);
}

}  // namespace witan::node
