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

json::object fingerprintJson(const kernel::DomainModule&, const kernel::FingerprintOptions&,
                             const kernel::Fingerprint&);

// One line a check: "ok ..." or "FAILED ...: counterexample".
std::string checksText(const std::vector<kernel::PropertyResult>&);
std::string checksJson(const std::string& domain, const std::vector<kernel::PropertyResult>&);
bool allHeld(const std::vector<kernel::PropertyResult>&);

}  // namespace witan::node
