#!/usr/bin/python3
"""verify_bundle.py BUNDLE ORG=HEX...: the checks EB01 to EB17 of docs/market.md, written from that page.

Prints "ok" or the id of the first check that fails; exit code 1. Needs python3-cryptography. With --vectors FILE: bundles
a line, each with its roots and what must come; and each valid one with single characters altered, which must not verify.
"""
import base64
import calendar
import hashlib
import json
import re
import sys
import time

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    print("skipped: python3-cryptography is not installed")
    sys.exit(77)

BUDGET = ("steps", "tokens", "seconds")
TERMS = "capability policyEpoch models locales currency perCall budget "
WINDOWS = " deliverWithinSeconds disputeWindowSeconds"
MEMBERS = {
    "grant": "type org key use notBefore notAfter",
    "offer": "type id seller " + TERMS + "validFrom validUntil maxCalls" + WINDOWS,
    "contract": "type id offer buyer seller escrow " + TERMS + "total calls signedAt notBefore expiry" + WINDOWS,
    "order": "type contract call input amount locales budget issuedAt deliverBy",
    "evidence": "_type subject predicateType predicate",
}
PARTS = {  # members of members
    "buyer": "org key", "seller": "org key evidenceKey log", "capability": "graph version digest", "model": "name digest",
    "predicate": "contract order call run capability input policyEpoch models locales usage charge outcome startedAt "
                 "endedAt transcript",
    "transcript": "root size"}
RECORDS = {"begin": "input", "look": "span tool input output locales", "model": "span model input output tokens locales",
           "act": "span tool input locales", "outcome": "span result output", "end": "output"}
TIMES = "notBefore notAfter validFrom validUntil signedAt expiry issuedAt deliverBy startedAt endedAt".split()
HEXES = "key digest evidenceKey offer contract order run root input sha256 output".split()
NATURALS = "version perCall maxCalls deliverWithinSeconds disputeWindowSeconds total calls amount charge size steps " \
           "tokens seconds n".split()
WORDS = {"use": ("contract", "evidence", "card"), "outcome": ("completed", "failed"),
         "result": ("applied", "denied", "failed")}


class Fails(Exception):
    pass


def need(holds, check):
    if not holds:
        raise Fails(check)


def canonical(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def strict(text):
    def no_float(literal):
        raise ValueError(literal)

    def pairs(items):
        if len(dict(items)) != len(items):
            raise ValueError("a member stands twice")
        return dict(items)
    return json.loads(text, object_pairs_hook=pairs, parse_float=no_float, parse_constant=no_float)


def unbase64(text):
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text, "EB01")
    return data


def seconds(text):
    need(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]Z", text), "EB01")
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def is_text(value):
    return isinstance(value, str) and 1 <= len(value) <= 4096


def is_hex(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def form(name, value, members):
    """The members of an object, each of the form that its name has anywhere in the market's documents."""
    need(isinstance(value, dict) and set(value) == set(members.split()), "EB01")
    for member, held in value.items():
        if member in TIMES:
            seconds(held)
        elif member in PARTS and (name, member) != ("offer", "seller"):
            form(member, held, PARTS[member])
        elif member == "models":
            for model in held:
                form("model", model, PARTS["model"])
        elif member in ("budget", "usage"):
            form(member, held, " ".join(BUDGET))
        elif member == "locales":
            need(isinstance(held, list) and all(map(is_text, held)) and sorted(set(held)) == held, "EB01")
        elif member in HEXES:
            need(is_hex(held), "EB01")
        elif member in NATURALS:
            need(type(held) is int and 0 <= held < 2 ** 63, "EB01")
        elif member in WORDS:
            need(held in WORDS[member], "EB01")
        elif member == "subject":
            need(len(held) == 1 and set(held[0]) == {"name", "digest"} and held[0]["name"] == "output", "EB01")
            form("subject", held[0]["digest"], "sha256")
        elif member == "type":
            need(held == "witan.%s/v1" % name, "EB01")
        elif member == "_type":
            need(held == "https://in-toto.io/Statement/v1", "EB01")
        elif member == "predicateType":
            need(held == "urn:witan:evidence:v1", "EB01")
        else:
            need(is_text(held), "EB01")


class Document:
    def __init__(self, name, envelope):
        need(isinstance(envelope, dict) and set(envelope) == {"payloadType", "payload", "signatures"}, "EB01")
        kind = "in-toto" if name == "evidence" else "witan." + name
        want = "application/vnd.%s+json" % kind
        need(envelope["payloadType"] == want and 1 <= len(envelope["signatures"]) <= 16, "EB01")
        need(all(set(each) == {"keyid", "sig"} for each in envelope["signatures"]), "EB01")
        need(len(canonical(envelope)) <= 65536, "EB01")
        self.body = unbase64(envelope["payload"])
        self.value = strict(self.body.decode())
        form(name, self.value, MEMBERS[name])
        need(canonical(self.value) == self.body, "EB01")
        self.digest = sha(self.body)
        self.signed = b"DSSEv1 %d %s %d %s" % (len(want), want.encode(), len(self.body), self.body)
        self.signatures = [each["sig"] for each in envelope["signatures"]]

    def __getitem__(self, member):
        return self.value[member]

    def is_by(self, key):
        return any(verifies(key, self.signed, signature) for signature in self.signatures)


def verifies(key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(base64.b64decode(signature, validate=True), message)
        return True
    except (InvalidSignature, ValueError):
        return False


def names(models):
    return {(each["name"], each["digest"]) for each in models}


def fits(inner, outer):
    return all(inner[each] <= outer[each] for each in BUDGET)


def leaf(data):
    return hashlib.sha256(b"\0" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root_of(leaves[:half]), root_of(leaves[half:]))


def check_transcript(records, said, output):
    need(records and len(records) == said["transcript"]["size"], "EB14")
    need(root_of([leaf(canonical(each)) for each in records]).hex() == said["transcript"]["root"], "EB14")
    spans, acts, steps, tokens, models = set(), set(), 0, 0, set()
    for n, record in enumerate(records):
        kind = record["kind"]
        form(kind, {k: v for k, v in record.items() if k != "kind"}, "n policyEpoch " + RECORDS[kind])
        need(record["n"] == n and record["policyEpoch"] == said["policyEpoch"], "EB14")
        need((kind == "begin") == (n == 0) and (kind == "end") == (n == len(records) - 1), "EB14")
        need(set(record.get("locales", [])) <= set(said["locales"]), "EB14")
        if kind in ("look", "model", "act"):
            need(record["span"] not in spans, "EB14")
            spans.add(record["span"])
            steps += 1
        if kind == "act":
            acts.add(record["span"])
        if kind == "outcome":
            acts.remove(record["span"])
        if kind == "model":
            models |= names([record["model"]])
            tokens += record["tokens"]
    need(records[0]["input"] == said["input"] and records[-1]["output"] == output and not acts, "EB14")
    need(models == names(said["models"]) and (steps, tokens) == (said["usage"]["steps"], said["usage"]["tokens"]), "EB14")


def operation_of(entry):
    """Pointer 4 of the root struct of one canonical Cap'n Proto segment (docs/ledger-format.md)."""
    def word(i):
        need(0 <= i < len(entry) // 8, "EB16")
        return int.from_bytes(entry[8 * i:8 * i + 8], "little")

    def offset(pointer):
        low = pointer >> 2 & 0x3FFFFFFF
        return low - (1 << 30) if low >> 29 else low
    top = word(0)
    at = 1 + offset(top) + (top >> 32 & 0xFFFF) + 4
    need(top & 3 == 0 and top >> 48 > 4 and word(at) & 3 == 1 and word(at) >> 32 & 7 == 2, "EB16")
    start, size = 8 * (at + 1 + offset(word(at))), word(at) >> 35
    return entry[start:start + size - 1].decode()


def check_receipt(receipt, log, digest):
    need(set(receipt) == {"entry", "index", "path", "checkpoint"}, "EB16")
    entry = unbase64(receipt["entry"])
    need(operation_of(entry) == "evidence:" + digest, "EB16")
    name, key_id, encoded = log.split("+", 2)
    key = unbase64(encoded)
    want = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    need(key[:1] == b"\1" and len(key) == 33 and want.hex() == key_id, "EB16")
    text, _, lines = receipt["checkpoint"].rpartition("\n\n")
    text += "\n"
    mine = [unbase64(line.split(" ")[2]) for line in lines.splitlines() if line.startswith("\u2014 %s " % name)]
    mine = [each for each in mine if each[:4] == want]
    need(mine and all(verifies(key[1:].hex(), text.encode(), base64.b64encode(each[4:])) for each in mine), "EB16")
    origin, size, root = text.split("\n")[:3]
    index, last, at = receipt["index"], int(size) - 1, leaf(entry)
    need(origin == name and str(int(size)) == size and 0 <= index <= last, "EB16")
    for each in receipt["path"]:
        need(last > 0, "EB16")
        if index & 1 or index == last:
            at = node(unbase64(each), at)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            at = node(at, unbase64(each))
        index, last = index >> 1, last >> 1
    need(last == 0 and at == unbase64(root), "EB16")


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def check_input(bundle, digest):
    need(sha(canonical(bundle["input"])) == digest, "EB17")
    for each in bundle["disclosures"]:
        parts = strict(base64.urlsafe_b64decode(each + "=" * (-len(each) % 4)))
        need(isinstance(parts, list) and len(parts) == 3 and is_text(parts[0]) and is_text(parts[1]), "EB17")
        need(url64(hashlib.sha256(each.encode()).digest()) in bundle["input"]["_sd"], "EB17")


def documents_of(bundle):
    need(set(bundle) == set("type grants offer contract order evidence receipt transcript input disclosures "
                            "output".split()) and bundle["type"] == "witan.evidence-bundle/v1", "EB01")
    sd = bundle["input"]
    need(set(sd) == {"_sd", "_sd_alg"} and sd["_sd_alg"] == "sha-256" and sorted(set(sd["_sd"])) == sd["_sd"], "EB01")
    need(all(isinstance(bundle[each], list) for each in ("transcript", "disclosures", "grants")), "EB01")
    found = {name: Document(name, bundle[name]) for name in ("offer", "contract", "order", "evidence")}
    return found, [Document("grant", each) for each in bundle["grants"]]


def check(bundle, roots):
    within("EB01", lambda: documents_of(bundle))
    found, grants = documents_of(bundle)
    offer, contract, order, said = (found["offer"], found["contract"], found["order"],
                                    found["evidence"]["predicate"])
    buyer, seller, signed = contract["buyer"], contract["seller"], seconds(contract["signedAt"])

    def granted(org, key, use, at):
        return org in roots and any(
            (g["org"], g["key"], g["use"]) == (org, key, use) and g.is_by(roots[org]) and
            seconds(g["notBefore"]) <= at < seconds(g["notAfter"]) for g in grants)
    need(granted(buyer["org"], buyer["key"], "contract", signed) and
         granted(seller["org"], seller["key"], "contract", signed) and
         granted(seller["org"], seller["evidenceKey"], "evidence", seconds(said["endedAt"])), "EB02")
    need(offer["seller"] == seller["org"] and offer.is_by(seller["key"]) and
         seconds(offer["validFrom"]) <= signed < seconds(offer["validUntil"]), "EB03")
    need(contract.is_by(buyer["key"]) and contract.is_by(seller["key"]), "EB04")
    need(contract["offer"] == offer.digest and
         all(contract[each] == offer[each] for each in ("capability", "policyEpoch", "currency")) and
         set(contract["locales"]) <= set(offer["locales"]) and names(contract["models"]) <= names(offer["models"]) and
         contract["perCall"] <= offer["perCall"] and fits(contract["budget"], offer["budget"]) and
         contract["calls"] <= offer["maxCalls"] and
         contract["deliverWithinSeconds"] >= offer["deliverWithinSeconds"] and
         contract["disputeWindowSeconds"] <= offer["disputeWindowSeconds"], "EB05")
    issued, due = seconds(order["issuedAt"]), seconds(order["deliverBy"])
    need(order.is_by(buyer["key"]) and order["contract"] == contract.digest and
         order["amount"] <= contract["perCall"] and set(order["locales"]) <= set(contract["locales"]) and
         fits(order["budget"], contract["budget"]) and
         seconds(contract["notBefore"]) <= issued < seconds(contract["expiry"]) and
         due <= issued + contract["deliverWithinSeconds"], "EB06")
    need(found["evidence"].is_by(seller["evidenceKey"]), "EB07")
    need((said["contract"], said["order"], said["call"], said["input"], said["capability"]) ==
         (contract.digest, order.digest, order["call"], order["input"], contract["capability"]), "EB08")
    need(said["models"] and names(said["models"]) <= names(contract["models"]), "EB09")
    need(said["policyEpoch"] == contract["policyEpoch"], "EB10")
    need(set(said["locales"]) <= set(order["locales"]), "EB11")
    need(fits(said["usage"], order["budget"]) and said["charge"] <= order["amount"] and
         (said["outcome"] == "completed" or said["charge"] == 0), "EB12")
    need(issued - 300 <= seconds(said["startedAt"]) <= seconds(said["endedAt"]) <= due + 300, "EB13")
    output = found["evidence"]["subject"][0]["digest"]["sha256"]
    within("EB14", lambda: check_transcript(bundle["transcript"], said, output))
    need(bundle["output"] is None or sha(canonical(bundle["output"])) == output, "EB15")
    within("EB16", lambda: check_receipt(bundle["receipt"], seller["log"], found["evidence"].digest))
    within("EB17", lambda: check_input(bundle, said["input"]))


def within(name, work):
    """Whatever is wrong there fails this check."""
    try:
        work()
    except (Fails, KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise Fails(name) from None


def verdict(bundle, roots):
    try:
        check(bundle, roots)
        return ""
    except Fails as failure:
        return str(failure)


def run_vectors(path):
    """How many answers differ from what must come."""
    wrong = altered = 0
    for line in open(path, encoding="utf-8"):
        vector = strict(line)
        found = verdict(vector["bundle"], vector["roots"])
        if found != vector["expect"]:
            wrong += 1
            print(vector["name"], "must be", vector["expect"] or "ok", "and is", found or "ok")
        if vector["expect"]:
            continue
        text = json.dumps(vector["bundle"])
        for at in range(0, len(text), 97):
            if not text[at].isalnum() or text[at - 1] == "\\":
                continue
            altered += 1
            other = text[:at] + ("1" if text[at] != "1" else "2") + text[at + 1:]
            try:
                same = json.loads(other) == vector["bundle"]
                found = verdict(strict(other), vector["roots"])
            except ValueError:
                continue
            # A hint of a key and a signature that nobody needs may be anything.
            if not found and not same and not is_hint(vector["bundle"], json.loads(other)):
                wrong += 1
                print(vector["name"], "verifies with another character at", at)
    print("%d altered bundles tried, %d answers wrong" % (altered, wrong))
    return wrong


def is_hint(bundle, other):
    def without(value):
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k != "keyid"}
        return [without(v) for v in value] if isinstance(value, list) else value
    return without(bundle) == without(other)


def main(words):
    if words[0] == "--vectors":
        return 1 if run_vectors(words[1]) else 0
    try:
        bundle = strict(open(words[0], encoding="utf-8").read())
        found = verdict(bundle, dict(word.rsplit("=", 1) for word in words[1:]))
    except ValueError:
        found = "EB01"
    print(found or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
