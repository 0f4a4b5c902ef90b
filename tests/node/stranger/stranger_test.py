#!/usr/bin/env python3
"""stranger_test.py WITAN: the stranger's verifier and `witan ledger verify --export` accept an export, and both find
every manipulation of it."""
import base64
import glob
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WITAN = sys.argv[1]


def run(*words, given=None, check=True):
    done = subprocess.run(words, input=given, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit('%s: %s%s' % (' '.join(words), done.stdout, done.stderr))
    return done


def event(minute, rest):
    return '{"at":"2026-03-23T08:%d:00Z","entity":"e",%s}\n' % (10 + minute, rest)


def spend(minute, amount):
    return event(minute, '"role":"A","action":{"type":"SpendA","n":%d}' % amount)


def store(folder, amounts):
    events = event(0, '"init":{}') + ''.join(spend(i + 1, n) for i, n in enumerate(amounts))
    run(WITAN, 'run', '--domain', 'budget', '--events', '-', '--store', folder, given=events)
    lines = run(WITAN, 'ledger', 'export', '--store', folder).stdout.splitlines()
    return lines, run(WITAN, 'ledger', 'checkpoint', '--store', folder).stdout


def forged(lines, expect, joined):
    """The bytes stay; what people read is another."""
    def changed(what, change, good=False, place=2, spelt=json.dumps, **more):
        row = json.loads(lines[place])
        change(row)
        expect('the readable half of entry %d: %s' % (place + 1, what), good,
               joined(lines[:place] + [spelt(row)] + lines[place + 1:]), **more)

    def put(*path, value):
        def change(row):
            for name in path[:-1]:
                row = row[name]
            row[path[-1]] = value
        return change

    def without(name, inner=True):
        return lambda row: (row['entry'] if inner else row).pop(name)

    def exchange(row):
        verdicts = row['entry']['verdicts']
        names, words = list(verdicts), list(verdicts.values())
        row['entry']['verdicts'] = dict(zip(names, reversed(words)))

    for name, value in json.loads(lines[2])['entry'].items():
        changed('without ' + name, without(name))
        changed('another ' + name, put('entry', name, value=value + 1 if name == 'seq' else 'x'))
    changed('another tag', put('entry', 'tag', value='approved'))
    changed('another amount', put('entry', 'action', 'n', value=1))
    changed('the amount as text', put('entry', 'action', 'n', value='200000'))
    changed('verdicts exchanged', exchange)
    changed('a device', put('entry', 'device', value='x'))
    changed('a member that there is not', put('entry', 'approvedBy', value='the board'))
    changed('an empty member', put('entry', 'agent', value=''))
    changed('none', without('entry', inner=False))
    changed('null', put('entry', value=None))
    changed('a list', put('entry', value=[]))
    changed('a member beside it', put('note', value='x'))
    changed('a key twice', lambda row: None, spelt=lambda row: json.dumps(row)[:-1] + ',"entry":{}}')
    changed('the number as true', put('seq', value=True), place=0)
    changed('the beginning', put('entry', 'genesis', 'state', value={}), place=0)
    changed('deep', put('entry', 'action', value='deep'),
            spelt=lambda row: json.dumps(row).replace('"deep"', '[' * 100000 + ']' * 100000))
    changed('spelt in another way', lambda row: None, good=True,
            spelt=lambda row: json.dumps(row, sort_keys=True, indent=None, separators=(' , ', ' : ')))


def unreadable(folder, vkey, note, failures):
    """What cannot be read to its end is no shorter ledger, and nothing is no signed one."""
    empty, endless = os.path.join(folder, 'empty'), os.path.join(folder, 'endless')
    open(empty, 'w').close()
    with open(endless, 'w') as file:
        file.truncate(400 << 20)
    def small():
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
    kept = ['--vkey', vkey, '--checkpoint', note]
    for path, more in ((folder, []), ('/proc/self/mem', []), (endless, []), (empty, kept)):
        for who, words in (('stranger', [sys.executable, os.path.join(HERE, 'verify_export.py'), path]),
                           ('witan', [WITAN, 'ledger', 'verify', '--export', path])):
            done = subprocess.run(words + more, capture_output=True, text=True, preexec_fn=small)
            if done.returncode != 1 or 'Traceback' in done.stderr or 'ok' in done.stdout:
                failures.append('%s, %s: %d %s%s' % (path, who, done.returncode, done.stdout, done.stderr))
    for path in ('/dev/null', '/dev/zero', empty):
        done = run(WITAN, 'ledger', 'verify', '--export', path, '--signed', check=False)
        if done.returncode != 1 or done.stdout.startswith('ok'):
            failures.append('%s, signed: %d %s%s' % (path, done.returncode, done.stdout, done.stderr))


def every_domain(folder, failures):
    """Escalations that freeze keys or wait until a time, runs that are turned away: honest ledgers of each domain."""
    for events in sorted(glob.glob(os.path.join(HERE, '../../../domains/*/scenarios.jsonl'))):
        domain = os.path.basename(os.path.dirname(events))
        kept = os.path.join(folder, domain)
        made = run(WITAN, 'run', '--domain', domain, '--events', events, '--store', kept, check=False)
        if not os.path.isdir(os.path.join(kept, 'db')):
            failures.append('%s: no ledger: %s' % (domain, made.stderr[-400:]))
            continue
        export, note = kept + '.export', kept + '.checkpoint'
        for path, what in ((export, 'export'), (note, 'checkpoint')):
            with open(path, 'w', encoding='utf-8', newline='') as file:
                file.write(run(WITAN, 'ledger', what, '--store', kept).stdout)
        more = [export, '--vkey', os.path.join(kept, 'ledger.vkey'), '--checkpoint', note]
        for words in ([sys.executable, os.path.join(HERE, 'verify_export.py')], [WITAN, 'ledger', 'verify', '--export']):
            done = run(*words, *more, check=False)
            if done.returncode != 0:
                failures.append('%s: %s%s' % (domain, done.stdout, done.stderr))


LATER = """
[invariants.PURCHASE_SMALL]
rule = "no request above nine thousand"
each = "requests as r"
check = '''
require r.amount <= 9000 else reject 'request ' + r.key + ' is too large'
'''
"""


def later_version(folder, failures):
    """A ledger that goes on under a later version of its rule file, which has one more invariant: checkpoints of both
    times verify all of it."""
    with open(os.path.join(HERE, '../../../docs/examples/purchase.domain.toml'), encoding='utf-8') as file:
        first = file.read()
    second = first.replace('domain = "purchase"\n', 'domain = "purchase"\nversion = 2\n', 1)
    second = second.replace('[tables.', '[since]\n2 = ["PURCHASE_SMALL"]\n\n[tables.', 1) + LATER
    kept, export, keys = os.path.join(folder, 'purchases'), os.path.join(folder, 'purchases.export'), []
    for number, rules in enumerate((first, second), 1):
        path = os.path.join(folder, 'purchase.domain.toml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(rules)
        day, ask = '2026-01-0%dT00:00:0%dZ', {'type': 'Ask', 'request': 'R', 'amount': 50, 'purpose': 'pencils'}
        events = [{'at': day % (number, 0), 'entity': 'd%d' % number, 'init': {}},
                  {'at': day % (number, 1), 'entity': 'd%d' % number, 'role': 'Staff', 'action': ask},
                  {'at': day % (number, 2), 'entity': 'd%d' % number, 'role': 'Buyer',
                   'action': {'type': 'Order', 'request': 'R'}}]
        run(WITAN, 'run', '--domain', path, '--events', '-', '--store', kept,
            given=''.join(json.dumps(event) + '\n' for event in events))
        keys.append(os.path.join(folder, 'purchases.%d' % number))
        with open(keys[-1], 'w', encoding='utf-8', newline='') as file:
            file.write(run(WITAN, 'ledger', 'checkpoint', '--store', kept).stdout)
    with open(export, 'w', encoding='utf-8', newline='') as file:
        file.write(run(WITAN, 'ledger', 'export', '--store', kept).stdout)
    for notes in ([], keys[:1], keys[1:], keys):
        more = [export, '--vkey', os.path.join(kept, 'ledger.vkey')]
        more += [word for note in notes for word in ('--checkpoint', note)]
        for words in ([sys.executable, os.path.join(HERE, 'verify_export.py')], [WITAN, 'ledger', 'verify', '--export']):
            done = run(*words, *more, check=False)
            if done.returncode != 0 or not done.stdout.startswith('ok 4'):
                failures.append('a later version, %s: %s%s' % (notes, done.stdout, done.stderr))


def mixed_up(folder, lines, note, other_note, failures):
    """Honest files of two logs: nobody is accused."""
    for name, content in (('export', ''.join(line + '\n' for line in lines)), ('of-one', note), ('of-two', other_note)):
        with open(os.path.join(folder, name), 'w', encoding='utf-8', newline='') as file:
            file.write(content)
    keys = [word for one in ('one', 'two') for word in ('--vkey', os.path.join(folder, one, 'ledger.vkey'))]
    for notes in (['of-two'], ['of-one', 'of-two']):
        more = [word for one in notes for word in ('--checkpoint', os.path.join(folder, one))]
        done = run(WITAN, 'ledger', 'verify', '--export', os.path.join(folder, 'export'), *keys, *more, check=False)
        if done.returncode != 1 or 'of-two' not in done.stdout:
            failures.append('mixed up, %s: %s%s' % (notes, done.stdout, done.stderr))


def anybodys(folder, lines, checkpoint, expect, joined):
    """A key under which everybody signs everything: the neutral point, and (neutral point, 0) as the signature."""
    text = checkpoint[:checkpoint.rfind('\n\n') + 1]
    name, typed = text.split('\n', 1)[0], b'\x01' + b'\x01' + bytes(31)
    key_id = hashlib.sha256(name.encode() + b'\n' + typed).digest()[:4]
    signature = base64.b64encode(key_id + b'\x01' + bytes(63)).decode()
    path = os.path.join(folder, 'weak.vkey')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('%s+%s+%s\n' % (name, key_id.hex(), base64.b64encode(typed).decode()))
    expect('a key that is none', False, joined(lines), '%s\n\u2014 %s %s\n' % (text, name, signature), path)


def main():
    folder = tempfile.mkdtemp()
    amounts = [10, 20, 200000, 30, 40, 50, 60]
    lines, checkpoint = store(os.path.join(folder, 'one'), amounts)
    other, other_checkpoint = store(os.path.join(folder, 'two'), amounts[:-1] + [61])
    vkey = os.path.join(folder, 'one', 'ledger.vkey')
    failures = []

    def verdicts(text, note, key=vkey):
        paths = [os.path.join(folder, name) for name in ('export', 'checkpoint')]
        for path, content in zip(paths, (text, note)):
            with open(path, 'w', encoding='utf-8', newline='') as file:
                file.write(content)
        more = ['--vkey', key, '--checkpoint', paths[1]]
        return [run(sys.executable, os.path.join(HERE, 'verify_export.py'), paths[0], *more, check=False),
                run(WITAN, 'ledger', 'verify', '--export', paths[0], *more, check=False)]

    def expect(what, good, text, note=checkpoint, key=vkey):
        for who, verdict in zip(('stranger', 'witan'), verdicts(text, note, key)):
            if (verdict.returncode == 0) != good:
                failures.append('%s, %s: %s%s' % (what, who, verdict.stdout, verdict.stderr))

    def joined(changed):
        return ''.join(line + '\n' for line in changed)

    def with_bytes(line, data, fix_leaf=True):
        row = json.loads(line)
        row['bytes'] = base64.b64encode(data).decode()
        if fix_leaf:
            row['leafHash'] = hashlib.sha256(b'\x00' + data).hexdigest()
        return json.dumps(row)

    def bytes_of(line):
        return base64.b64decode(json.loads(line)['bytes'])

    expect('as it is', True, joined(lines))
    for place in range(0, len(bytes_of(lines[3])), 8):  # a byte of each word of an entry
        data = bytearray(bytes_of(lines[3]))
        data[place] ^= 1
        for fixed in (False, True) if place % 64 == 0 else (True,):
            expect('byte %d of entry 4, leaf hash %s' % (place, fixed), False,
                   joined(lines[:3] + [with_bytes(lines[3], bytes(data), fixed)] + lines[4:]))
    expect('the last entry replaced by a lawful one', False, joined(lines[:-1] + other[-1:]))
    expect('an entry taken out', False, joined(lines[:2] + lines[3:]))
    expect('the end cut off', False, joined(lines[:-1]))
    expect('two entries exchanged', False, joined(lines[:1] + [lines[2], lines[1]] + lines[3:]))
    expect('an entry twice', False, joined(lines[:2] + lines[1:]))
    expect('bytes behind an entry', False, joined([with_bytes(lines[0], bytes_of(lines[0]) + bytes(8))] + lines[1:]))
    expect('another ledger', False, joined(other))
    expect('another ledger with its checkpoint', False, joined(other), other_checkpoint)
    expect('another key', False, joined(lines), checkpoint, os.path.join(folder, 'two', 'ledger.vkey'))
    expect('a checkpoint of another size', False, joined(lines), checkpoint.replace('\n7\n', '\n6\n', 1))
    expect('a checkpoint without its signature', False, joined(lines), checkpoint[:checkpoint.rfind('\n\n') + 2])
    expect('more entries than the checkpoint covers', True,
           joined(other), run(WITAN, 'ledger', 'checkpoint', '--store', os.path.join(folder, 'two')).stdout,
           os.path.join(folder, 'two', 'ledger.vkey'))
    expect('the last line without its end', False, joined(lines)[:-1])
    anybodys(folder, lines, checkpoint, expect, joined)
    forged(lines, expect, joined)
    every_domain(folder, failures)
    later_version(folder, failures)
    mixed_up(folder, lines, checkpoint, other_checkpoint, failures)
    unreadable(folder, vkey, os.path.join(folder, 'checkpoint'), failures)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
