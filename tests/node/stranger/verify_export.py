#!/usr/bin/env python3
"""A verifier of exported Witan ledgers, written from docs/ledger-format.md alone: it shares no code with Witan.

verify_export.py EXPORT [--vkey FILE]... [--checkpoint FILE]... [--require K]

Prints `ok ENTRIES ROOT`, or `bad ` and the first thing that is wrong; exit code 1 then.
"""
import argparse
import base64
import datetime
import hashlib
import json
import re
import struct
import sys


LONGEST = 64 * 1024 * 1024  # of a line


class Bad(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Bad(why)


# ---- Ed25519 verification (RFC 8032, section 5.1.7)
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    x, y, z, t = ((a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0]), 2 * a[2] * b[2], 2 * a[3] * b[3] * D)
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point):
    result = (0, 1, 1, 0)
    while n:
        if n & 1:
            result = add(result, point)
        point = add(point, point)
        n >>= 1
    return result


def decompress(data):
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - x2) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, 'little'))


def signature_holds(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = decompress(key), decompress(signature[:32])
    s = int.from_bytes(signature[32:], 'little')
    if a is None or r is None or s >= L or times(8, a)[0] % P == 0:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), 'little') % L
    left, right = times(s, BASE), add(r, times(k, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


# ---- signed notes (section 3 and 9)
def verifier_key(text):
    name, key_id, rest = text.split('+', 2)
    typed = base64.b64decode(rest, validate=True)
    need(len(typed) == 33 and typed[0] in (1, 4), 'a verifier key of an unknown type')
    need(hashlib.sha256(name.encode() + b'\n' + typed).hexdigest()[:8] == key_id, 'a key id that is not the key\'s')
    point = decompress(typed[1:])
    need(point is not None and times(8, point)[0] % P != 0, 'a verifier key that is none')
    return name, key_id, typed[0], typed[1:]


def signs_log(name, origin):
    """Whether a key of this name signs heads of the log, and not only cosigns them."""
    key, log = name.split('/'), origin.split('/')
    return name == origin or (len(key) == 3 and len(log) == 6 and key[:2] == log[:2] and log[5].split('@')[0] == key[2]
                              and all(number.isdecimal() and str(int(number)) == number for number in log[3:5]))


def open_note(note, keys):
    """The text, and the names whose signature holds."""
    at = note.rfind('\n\n')
    need(at >= 0 and note.endswith('\n'), 'no signed note')
    text, names, owned = note[:at + 1], set(), False
    for line in note[at + 2:].splitlines():
        need(line.startswith('\u2014 '), 'a signature line of another form')
        name, encoded = line[2:].split(' ')
        data = base64.b64decode(encoded, validate=True)
        for key_name, key_id, kind, key in keys:
            if key_name != name or key_id != data[:4].hex():
                continue
            message, signature = text.encode(), data[4:]
            if kind == 4:
                seconds = int.from_bytes(signature[:8], 'big')
                message, signature = b'cosignature/v1\ntime %d\n' % seconds + message, signature[8:]
            need(signature_holds(key, message, signature), 'the signature of %s does not hold' % name)
            own = kind == 1 and signs_log(name, text.split('\n', 1)[0])
            owned = owned or own
            if kind == 4 or own:
                names.add(name)
    need(owned or not names, 'its log\'s owner did not sign it, or --vkey does not give the owner\'s key')
    return text, names


# ---- an entry's bytes (section 4)
TEXTS = ['entity', 'role', 'device', 'agent', 'operationId', 'action', 'invariant', 'message', 'writes', 'verdicts',
         'findings', 'counselor', 'reason', 'decision', 'stateDigest', 'genesis', 'runKey', 'planDigest', 'owner', 'shown',
         'signature', 'proof']
BYTES = ('verdicts', 'stateDigest', 'runKey', 'planDigest', 'shown', 'signature', 'proof')
SIZES = (('runKey', 32), ('planDigest', 32), ('shown', 32), ('signature', 96))
TAGS = ['approved', 'rejected', 'escalated', 'cCommitted', 'cRejected']


class Message:
    """Reads in preorder, so that bytes which are not canonical are noticed: each object begins where the last ended."""

    def __init__(self, data):
        need(len(data) % 8 == 0 and data, 'no whole words')
        self.words = struct.unpack('<%dQ' % (len(data) // 8), data)
        self.data, self.next = data, 1

    def target(self, at):
        word = self.words[at]
        offset = (word & 0xffffffff) >> 2
        need(offset < 2**29 and at + 1 + offset == self.next, 'not in canonical order')
        return word

    def struct(self, at, most_data, most_pointers):
        word = self.target(at)
        need(word & 3 == 0, 'no struct')
        data, pointers = word >> 32 & 0xffff, word >> 48
        need(data <= most_data and pointers <= most_pointers, 'members that nobody knows')
        start, self.next = self.next, self.next + data + pointers
        need(self.next <= len(self.words), 'cut short')
        need(data == 0 or self.words[start + data - 1], 'zero words at the end of the data')
        need(pointers == 0 or self.words[start + data + pointers - 1], 'null pointers at the end')
        return start, data, pointers

    def blob(self, at):
        if self.words[at] == 0:
            return None
        word = self.target(at)
        need(word & 3 == 1 and word >> 32 & 7 == 2, 'no list of bytes')
        size, start = word >> 35, self.next
        self.next += (size + 7) // 8
        need(self.next <= len(self.words), 'cut short')
        data = self.data[8 * start:8 * self.next]
        need(not any(data[size:]), 'padding that is not zero')
        return data[:size]

    def text(self, at):
        data = self.blob(at)
        if data is None:
            return ''
        need(len(data) > 1 and data[-1] == 0, 'empty text, or without its zero')
        return data[:-1].decode('utf-8')

    def findings(self, at):
        if self.words[at] == 0:
            return []
        word = self.target(at)
        need(word & 3 == 1 and word >> 32 & 7 == 7, 'no list of structs')
        tag, start = self.words[self.next], self.next + 1
        count, data, pointers = (tag & 0xffffffff) >> 2, tag >> 32 & 0xffff, tag >> 48
        need(word >> 35 == count * (data + pointers) and data <= 1 and pointers <= 2, 'a list of another size')
        self.next = start + count * (data + pointers)
        need(self.next <= len(self.words), 'cut short')
        found = []
        for i in range(count):
            element = start + i * (data + pointers)
            texts = [self.text(element + data + k) if k < pointers else '' for k in range(2)]
            found.append((self.words[element] if data else 0, texts[0], texts[1]))
        return found


def entry_of(data):
    message = Message(data)
    start, words, pointers = message.struct(0, 5, len(TEXTS))
    value = [message.words[start + i] if i < words else 0 for i in range(5)]
    entry = {'seq': value[0], 'time': value[1] - (value[1] >> 63 << 64), 'escalation': value[3], 'epoch': value[4]}
    need(value[2] < len(TAGS), 'an unknown tag')
    entry['tag'] = TAGS[value[2]]
    for i, name in enumerate(TEXTS):
        at = start + words + i
        if i >= pointers:
            entry[name] = [] if name == 'findings' else b'' if name in BYTES else ''
        elif name == 'findings':
            entry[name] = message.findings(at)
        elif name in BYTES:
            entry[name] = message.blob(at) or b''
        else:
            entry[name] = message.text(at)
    need(message.next == len(message.words), 'bytes behind the message')
    need(entry['entity'] and entry['operationId'], 'no entity or no operation id')
    need(all(v <= 3 for v in entry['verdicts']), 'a verdict that is none')
    need(all(len(entry[name]) in (0, size) for name, size in SIZES), 'a member of another size')
    need(bool(entry['epoch']) == bool(entry['owner']), 'an epoch without an owner, or the reverse')
    need(not entry['signature'] or entry['shown'], 'an answer is signed, but not what was shown')
    for name in ('action', 'writes', 'decision', 'genesis'):
        if entry[name]:
            json.loads(entry[name])
    return entry


# ---- the readable half of a line (sections 3 and 5)
WORDS = [None, 'pass', 'reject', 'escalate']


def time_text(micros):
    seconds, micros = divmod(micros, 1000000)
    days, seconds = divmod(seconds, 86400)
    cycle, day = divmod(days + 719162, 146097)  # of 400 years, since the year 1
    date = datetime.date.fromordinal(day + 1)
    year = date.year + 400 * cycle
    sign = '' if 0 <= year <= 9999 else '-' if year < 0 else '+'
    fraction = ('.%06d' % micros).rstrip('0') if micros else ''
    return '%s%04d-%02d-%02dT%02d:%02d:%02d%sZ' % (sign, abs(year), date.month, date.day, seconds // 3600,
                                                   seconds // 60 % 60, seconds % 60, fraction)


def readable(e, names):
    """What an entry says to people, without what is empty."""
    said = {'seq': e['seq'], 'time': time_text(e['time']), 'tag': e['tag'], 'escalation': e['escalation'],
            'epoch': e['epoch']}
    for name in TEXTS:
        if name in ('action', 'writes', 'decision', 'genesis'):
            said[name] = json.loads(e[name]) if e[name] else None
        elif name not in ('verdicts', 'findings'):
            said[name] = e[name].hex() if name in BYTES else e[name]
    if not e['invariant']:
        said['message'] = ''
    said = {name: value for name, value in said.items() if value is not None and value != '' and value != 0}
    said['verdicts'] = {names[i] if names else '#%d' % i: WORDS[v] for i, v in enumerate(e['verdicts']) if v}
    if e['findings'] or e['tag'] == 'cCommitted':
        said['findings'] = [{'invariant': invariant, 'result': WORDS[result], 'message': message}
                            for result, invariant, message in e['findings']]
    return said


def compare(shown, said, names):
    need(isinstance(shown, dict), 'its readable half is no object')
    for name in list(said) + list(shown):
        need(name in shown and name in said, 'its readable half has %s too many or too few' % name)
        left, right = shown[name], said[name]
        if name == 'verdicts' and not names:
            need(isinstance(left, dict), 'its readable half says other verdicts than its bytes')
            left, right = (sorted(json.dumps(word) for word in one.values()) for one in (left, right))
        need(json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True),
             'its readable half says another %s than its bytes' % name)


def without_repeats(pairs):
    row = dict(pairs)
    need(len(row) == len(pairs), 'a key that repeats')
    return row


# ---- who asked, and who answered (section 10)
def statement(kind, parts):
    encoded = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return kind.encode() + b'\n' + b''.join(b'%d %s\n' % (len(part), part) for part in encoded)


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest() if text else ''


def path_root(leaf, index, size, path):
    last = size - 1
    for sibling in path:
        need(last, 'a path that is too long')
        if index & 1 or index == last:
            leaf = node(sibling, leaf)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            leaf = node(leaf, sibling)
        index, last = index >> 1, last >> 1
    need(last == 0, 'a path that is too short')
    return leaf


class Proofs:
    """Of the log of an origin. keys: device to its keys, for devices that have had several."""

    def __init__(self, origin, keys):
        parts = origin.split('/')
        self.log = parts[1:3] if len(parts) == 6 and parts[0] == 'witan' else None
        self.keys, self.good, self.last, self.proven = keys, set(), 0, 0

    def holds(self, key, message, signature):
        if (key, message, signature) not in self.good:
            need(signature_holds(key, message, signature), 'a signature in it does not hold')
            self.good.add((key, message, signature))

    def check(self, e):
        if e['epoch']:
            need(e['epoch'] > self.last, 'an epoch that is not later')
            self.last = e['epoch']
        need(e['counselor'] or not e['shown'], 'shown without a counselor')
        if not self.last or (e['tag'] == 'cRejected' and e['counselor'] == 'system'):
            return
        proof = e['proof']
        need(len(proof) >= 104 and len(proof) % 32 == 8, 'no signature of its proposer')
        if self.log is None:
            return
        counsel = bool(e['counselor'])
        kind = 'propose' if not counsel else 'commit' if e['tag'] == 'cCommitted' else 'reject'
        decision, reason = (digest_of(e[name]) if counsel else '' for name in ('decision', 'reason'))
        text = statement('witan-request/1', self.log + [
            kind, e['entity'], e['role'], e['operationId'], e['device'], e['agent'],
            '' if counsel else digest_of(e['action']), e['runKey'].hex(), e['planDigest'].hex(),
            e['counselor'], decision, reason, e['shown'].hex()])
        key, (index, size) = proof[:32], struct.unpack('<II', proof[32:40])
        need(index < size, 'a leaf outside its tree')
        root = path_root(hashlib.sha256(b'\x00' + text).digest(), index, size,
                         [proof[i:i + 32] for i in range(104, len(proof), 32)])
        self.holds(key, b'witan-round/1\n%s\n%d %s\n' % (self.log[0].encode(), size, root.hex().encode()),
                   proof[40:104])
        need(hashlib.sha256(key).hexdigest()[:32] == e['device'] or key in self.keys.get(e['device'], ()),
             'no key of its proposer signed it')
        self.proven += 1
        if e['signature']:
            answer = statement('witan-answer/1', self.log + [e['entity'], e['counselor'], kind, e['shown'].hex(),
                                                            decision, reason])
            self.holds(e['signature'][:32], answer, e['signature'][32:])


# ---- rules between entries (section 6)
def micros_of(text):
    """Of a time as section 5 writes it."""
    fields = re.fullmatch(r'([+-]?)(\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z', text)
    need(fields, 'no time')
    year = int(fields[2]) * (-1 if fields[1] == '-' else 1)
    cycle, in_cycle = divmod(year - 1, 400)
    days = datetime.date(in_cycle + 1, int(fields[3]), int(fields[4])).toordinal() - 719163 + 146097 * cycle
    seconds = days * 86400 + int(fields[5]) * 3600 + int(fields[6]) * 60 + int(fields[7])
    micros = seconds * 1000000 + int((fields[8] or '').ljust(6, '0'))
    need(time_text(micros) == text, 'a time in another form')
    return micros


def wait_of(decision):
    """What an escalation freezes, and until when it waits."""
    wait = json.loads(decision) if decision else {}
    need(isinstance(wait, dict) and set(wait) <= {'freezes', 'until'}, 'an escalation waits in another form')
    freezes = wait.get('freezes', [])
    need(isinstance(freezes, list) and all(isinstance(key, str) for key in freezes), 'it freezes no list of keys')
    return freezes, micros_of(wait['until']) if 'until' in wait else None


class Rules:
    def __init__(self, heads):
        self.entities, self.operations, self.runs, self.width = {}, {}, {}, 0
        self.counts = sorted((size, len(names)) for _, size, _, _, names in heads if names)

    def check(self, e):
        resolves = e['tag'] in ('cCommitted', 'cRejected')
        commits = e['tag'] in ('approved', 'cCommitted')
        known = self.entities.get(e['entity'])
        need((known is None) == bool(e['genesis']), 'a beginning where none belongs, or none')
        if known is None:
            known = self.entities[e['entity']] = {
                'digest': hashlib.sha256(b'witan/state/v1\n' + e['genesis'].encode()).digest(),
                'pending': 0, 'action': '', 'by_key': False, 'until': None, 'clock': None}
        need(known['pending'] if resolves else not known['pending'] or (known['by_key'] and e['tag'] != 'escalated'),
             'decides a frozen entity, or resolves nothing')
        need(e['escalation'] == (known['pending'] if resolves else 0), 'another escalation than the pending one')
        need(not resolves or e['action'] == known['action'], 'another action than the escalated one')
        if resolves and known['until'] is not None:
            need(e['time'] == known['until'] if e['counselor'] == 'system' else e['time'] < known['until'],
                 'of another time than the entry that waits allows')
        if commits:
            need(known['clock'] is None or e['time'] >= known['clock'], 'its time lies before its entity\'s clock')
            known['clock'] = e['time']
            known['digest'] = hashlib.sha256(
                known['digest'] + struct.pack('<q', e['time']) + e['writes'].encode()).digest()
        need(e['stateDigest'] == known['digest'], 'its state digest is not that of its writes')
        if resolves:
            known.update(pending=0, action='', by_key=False, until=None)
        if e['tag'] == 'escalated':
            freezes, until = wait_of(e['decision'])
            known.update(pending=e['seq'], action=e['action'], by_key=bool(freezes), until=until)
        need((e['tag'] in ('rejected', 'escalated')) == bool(e['invariant']), 'a failure witness too many or too few')
        need(commits == bool(e['writes']), 'writes where none belong, or none')
        need(resolves == bool(e['counselor']), 'a counselor too many or too few')
        need(bool(e['decision']) == (e['tag'] == 'cCommitted') or e['tag'] == 'escalated', 'a decision too many or too few')
        listed = [v for v in e['verdicts'] if v > 1] if e['tag'] in ('escalated', 'cCommitted') else []
        need([result for result, _, _ in e['findings']] == listed, 'findings that are not the verdicts')
        if e['tag'] != 'cRejected':
            # A later version of a rule file may have more; how many there were up to a checkpoint, it says.
            most = next((count for size, count in self.counts if e['seq'] <= size), len(e['verdicts']))
            need(self.width <= len(e['verdicts']) <= most, 'its verdicts are not one per invariant')
            self.width = len(e['verdicts'])
        self.once(e, resolves)

    def once(self, e, resolves):
        need(bool(e['runKey']) == bool(e['planDigest']), 'a run without a plan')
        need(not (resolves and e['runKey']), 'a counselor\'s entry names a run')
        away = False
        if e['runKey']:
            run = hashlib.sha256(e['runKey']).digest()[:16]
            bound, by = self.runs.setdefault(run, (e['planDigest'][:16], e['seq']))
            away = bound != e['planDigest'][:16]
            need(not away or (e['tag'] == 'rejected' and e['invariant'] == 'KERNEL_INTEGRITY'),
                 'decides under another plan')
            need(not away or e['message'] == 'run %s is bound to the plan whose digest begins with %s (entry %d)' %
                 (e['runKey'].hex(), bound.hex(), by), 'turned away with another message')
            need(not away or (e['verdicts'][0] == 2 and not any(e['verdicts'][1:])), 'turned away with other verdicts')
        before = self.operations.get(e['operationId'])
        need(before is None or (before and not away and e['runKey']), 'its operation id was decided before')
        self.operations[e['operationId']] = away


# ---- the tree (section 3)
def node(left, right):
    return hashlib.sha256(b'\x01' + left + right).digest()


class Tree:
    def __init__(self):
        self.peaks = []  # (leaves, hash), largest first

    def append(self, leaf):
        self.peaks.append((1, leaf))
        while len(self.peaks) > 1 and self.peaks[-1][0] == self.peaks[-2][0]:
            (n, right), (_, left) = self.peaks.pop(), self.peaks.pop()
            self.peaks.append((2 * n, node(left, right)))

    def root(self):
        if not self.peaks:
            return hashlib.sha256(b'').digest()
        result = self.peaks[-1][1]
        for _, peak in reversed(self.peaks[:-1]):
            result = node(peak, result)
        return result


def checkpoint_of(path, keys, require):
    with open(path, encoding='utf-8', newline='') as file:
        text, names = open_note(file.read(), keys)
    need(len(names) >= require, '%s: %d of the keys\' owners signed it, %d are required' % (path, len(names), require))
    lines = text.splitlines()
    need(not text.startswith('witan-copy/'), path + ': a statement about a copy is no head')
    need(len(lines) >= 3 and str(int(lines[1])) == lines[1], path + ': no checkpoint')
    names = [line.split(' ')[1:] for line in lines if line.startswith('invariants ')]
    return lines[0], int(lines[1]), base64.b64decode(lines[2], validate=True), path, names[0] if names else []


def verify(path, keys, checkpoints, require):
    heads = [checkpoint_of(one, keys, require) for one in checkpoints]
    need(len({head[0] for head in heads}) < 2, 'the checkpoints are of several logs')
    invariants = max((head[4] for head in heads), key=len, default=[])
    devices = {}
    for name, _, _, key in keys:
        devices.setdefault(name.split('/')[-1], set()).add(key)
    tree, rules, size = Tree(), Rules(heads), 0
    proofs = Proofs(heads[0][0] if heads else '', devices)
    with open(path, encoding='utf-8', newline='') as file:
        for line in iter(lambda: file.readline(LONGEST + 1), ''):
            size += 1
            try:
                need(len(line) <= LONGEST, 'a line that is too long')
                need(line.endswith('\n'), 'its line has no end: the file was cut')
                row = json.loads(line, object_pairs_hook=without_repeats)
                need(isinstance(row, dict) and set(row) == {'seq', 'leafHash', 'bytes', 'entry'}, 'other members')
                data = base64.b64decode(row['bytes'], validate=True)
                need(base64.b64encode(data).decode() == row['bytes'], 'not the only base64 of its bytes')
                leaf = hashlib.sha256(b'\x00' + data).digest()
                need(leaf.hex() == row['leafHash'], 'its leaf hash is not that of its bytes')
                entry = entry_of(data)
                need(entry['seq'] == size and json.dumps(row['seq']) == str(size), 'another number than its place')
                rules.check(entry)
                proofs.check(entry)
                named = invariants if len(entry['verdicts']) <= len(invariants) else []
                compare(row['entry'], readable(entry, named), named)
            except (Bad, ValueError, KeyError, IndexError, TypeError, struct.error, RecursionError) as why:
                raise Bad('entry %d: %s' % (size, why)) from why
            tree.append(leaf)
            for _, covered, root, name, _ in heads:
                need(covered != size or root == tree.root(),
                     'an entry up to %d was altered: the root is not that of %s' % (size, name))
    for _, covered, _, name, _ in heads:
        need(covered <= size, 'entries are missing: %s speaks of %d, here are %d' % (name, covered, size))
    need(size or not heads, 'there is no entry')
    return size, tree.root()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('export')
    parser.add_argument('--vkey', action='append', default=[])
    parser.add_argument('--checkpoint', action='append', default=[])
    parser.add_argument('--require', type=int, default=1)
    arguments = parser.parse_args()
    try:
        keys = []
        for path in arguments.vkey:
            with open(path, encoding='utf-8') as file:
                keys += [verifier_key(line) for line in file.read().split()]
        size, root = verify(arguments.export, keys, arguments.checkpoint, arguments.require)
    except (Bad, ValueError, OSError) as why:
        print('bad', why)
        return 1
    print('ok', size, root.hex())
    return 0


if __name__ == '__main__':
    sys.exit(main())
