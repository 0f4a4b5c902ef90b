// Domain listings, declarations, lint and test reports as text and JSON: what `witan domain` prints.
//
// Pure: no I/O. JSON texts are one value, without a newline.
#pragma once

#include <string>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/fingerprint.h"
#include "kernel/history_check.h"
#include "kernel/lint.h"

namespace witan::node {

std::string showDomain(const kernel::DomainModule&);
std::string showDomainJson(const kernel::DomainModule&);

std::string lintJson(const kernel::Signature&, const kernel::SignatureLint&, const kernel::SkewReport&);

// The scenarios that the domain ships with, run against their expectations; with the states in which they end checked
// for time stability. A domain without scenarios: checked = 0.
std::vector<kernel::PropertyResult> checkScenarios(const kernel::DomainModule&);
// The same for event lines from elsewhere; `source` says in the report whose they are.
std::vector<kernel::PropertyResult> checkScenarios(const kernel::DomainModule&, std::string_view lines,
                                                   const std::string& source);

json::object fingerprintJson(const kernel::DomainModule&, const kernel::FingerprintOptions&,
                             const kernel::Fingerprint&);

// One line a check: "ok ..." or "FAILED ...: counterexample".
std::string checksText(const std::vector<kernel::PropertyResult>&);
std::string checksJson(const std::string& domain, const std::vector<kernel::PropertyResult>&);
bool allHeld(const std::vector<kernel::PropertyResult>&);

}  // namespace witan::node
