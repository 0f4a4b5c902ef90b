#!/usr/bin/env python3
"""stranger_test.py WITAN: the stranger's verifier and `witan ledger verify --export` accept an export, and both find
every manipulation of it."""
import base64
import hashlib
import json
import os
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
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
