#!/usr/bin/env python3
"""A second verifier of an exported log, written from docs/concepts/log-format.md alone.

It shares nothing with `ok`, not even the language, and needs only the standard library, Ed25519 included.
It favours plainness over speed and holds the whole log in memory.

    verify.py DIR [--vkey VKEY] [--since FILE]

prints `ok <size> <root>` and exits with 0, or `bad <seq> <why>` and exits with 1 (`-` where no entry can be named).
"""

import argparse
import base64
import hashlib
import itertools
import json
import pathlib
import re
import sys

MAX_LEAF = 65_535
KEYS = {"actor", "c", "decision", "origin", "policy", "prev", "refs", "seq", "ts", "type", "v"}


class Bad(Exception):
    """Something is not as the format says."""


# Ed25519 (RFC 8032 §5.1), verification only, in extended coordinates.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def equal(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def decompress(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if y >= P:
        raise Bad("a point is not in its only form")
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - xx) % P or (x == 0 and sign):
        raise Bad("a point is not on the curve")
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(public, message, signature):
    """The strict check: points of small order are refused, so a signature has one meaning."""
    try:
        r, a = decompress(signature[:32]), decompress(public)
    except Bad:
        return False
    s = int.from_bytes(signature[32:], "little")
    small = any(equal(multiply(8, point), (0, 1, 1, 0)) for point in (r, a))
    if len(signature) != 64 or s >= L or small:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return equal(multiply(s, BASE), add(r, multiply(h, a)))


# Encodings.


def unbase64(text, size=None):
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise Bad("bad base64") from None
    if base64.b64encode(data).decode() != text or size not in (None, len(data)):
        raise Bad("bad base64")
    return data


def no_double_keys(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Bad("a key stands twice")
    return dict(pairs)


def no_float(text):
    raise Bad("a number is not whole")


def parse_object(line, floats=no_float):
    try:
        value = json.loads(line.decode(), object_pairs_hook=no_double_keys, parse_float=floats, parse_constant=no_float)
    except (ValueError, RecursionError):
        raise Bad("not JSON") from None
    if not isinstance(value, dict):
        raise Bad("not an object")
    return value


def whole(value, most=2**53 - 1):
    return type(value) is int and 0 <= value <= most


# Tree (RFC 6962).


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class Tree:
    def __init__(self):
        self.peaks = []  # (height, hash), largest first

    def push(self, node):
        height = 0
        while self.peaks and self.peaks[-1][0] == height:
            node = sha(b"\1", self.peaks.pop()[1], node)
            height += 1
        self.peaks.append((height, node))

    def root(self):
        if not self.peaks:
            return sha()
        node = self.peaks[-1][1]
        for _, left in reversed(self.peaks[:-1]):
            node = sha(b"\1", left, node)
        return node


def root_of(hashes):
    tree = Tree()
    for leaf in hashes:
        tree.push(leaf)
    return tree.root()


# Keys and checkpoints.


class Key:
    def __init__(self, text):
        parts = text.split("+", 2)
        if len(parts) != 3:
            raise Bad("the verifier key is malformed")
        self.name, blob = parts[0], unbase64(parts[2], 33)
        self.public = blob[1:]
        self.id = sha(self.name.encode(), b"\n", blob)[:4]
        if blob[0] != 1 or parts[1] != self.id.hex() or not re.fullmatch(r"[^\s+]+", self.name):
            raise Bad("the verifier key is malformed")


class Keys:
    """The log's key and those before it, newest first: (the size that it signed last, key)."""

    def __init__(self, lines):
        self.newest, self.texts = Key(lines[0]), [(None, lines[0])]
        for line in lines[1:]:
            size, _, text = line.partition(" ")
            if not re.fullmatch(r"0|[1-9][0-9]*", size):
                raise Bad("a key before it has no size")
            self.texts.append((int(size), text))
        self.former = [(size, Key(text)) for size, text in self.texts[1:]]
        sizes = [size for size, _ in self.former]
        if any(a <= b for a, b in itertools.pairwise(sizes)) or any(k.name != self.newest.name for _, k in self.former):
            raise Bad("the keys before it are not those of one log, in order")

    def of(self, size, handed_over=False):
        """The key that signs a log of this size; of two at the border, the later one if it was handed over."""
        found = self.newest
        for last, key in self.former:
            if size < last or (size == last and not handed_over):
                found = key
        return found

    def problems(self, leaves, payload_lines, published):
        """What is wrong with how the log tells that a key was replaced: (seq or none, why)."""
        claims = {size + 1: (text, self.texts[i][1], size) for i, (size, text) in enumerate(self.texts[1:])}
        for seq, leaf in enumerate(leaves, 1):
            is_rekeyed = leaf.fields is not None and leaf.fields["type"] == "log_rekeyed"
            if not is_rekeyed and seq not in claims:
                continue
            if not is_rekeyed:
                yield seq, "another key signs from here on, and it does not say so"
                continue
            try:
                event = parse_object(unbase64(parse_object(payload_lines[seq - 1])["payload"]), float)["event"]
                said = (event["from"], event["to"], event["size"])
            except (Bad, KeyError, IndexError, TypeError):
                said = None
            if said != claims.get(seq):
                yield seq, "the keys that it names are not those beside the log"
        for seq in claims:
            if seq > len(leaves):
                yield None, "a key ends, and no entry after that says so"
            if seq - 1 not in published:
                yield None, "no checkpoint hands the log over to the next key"


def open_note(text, keys, is_published=False):
    """The size and root of a checkpoint that the key of its size signed; a published one that hands over, by both."""
    size = text.split("\n")[1:2]
    size = int(size[0]) if size and re.fullmatch(r"[0-9]{1,18}", size[0]) else 0
    found = signed_note(text, keys.of(size))
    if is_published and keys.of(size, True) is not keys.of(size):
        signed_note(text, keys.of(size, True))
    return found


def signed_note(text, key):
    """The size and root of a checkpoint that the key signed."""
    form = re.fullmatch(r"([^\s+]+\n(0|[1-9][0-9]*)\n(\S+)\n)\n((?:— \S+ \S+\n)+)", text)
    if not form:
        raise Bad("the checkpoint is malformed")
    body, size, root, lines = form.groups()
    root = unbase64(root, 32)
    signatures = [line.split(" ")[1:] for line in lines.splitlines()]
    blobs = [unbase64(blob) for name, blob in signatures if name == key.name]
    ours = [blob[4:] for blob in blobs if blob[:4] == key.id]
    if body.split("\n")[0] != key.name or not ours:
        raise Bad("the checkpoint is not of this log's key")
    if not all(is_signed(key.public, body.encode(), signature) for signature in ours):
        raise Bad("the signature on the checkpoint is wrong")
    return int(size), root


# The log.


class Leaf:
    """One line of leaves.jsonl; `why` says what is wrong with it by itself."""

    def __init__(self, line, origin):
        self.hash, self.why, self.fields = sha(b"\0", line), None, None
        try:
            fields = parse_object(line)
            self.check(fields, line, origin)
            self.fields = fields
            self.prev, self.c = unbase64(fields["prev"], 32), unbase64(fields["c"], 32)
        except Bad as bad:
            self.why, self.fields = str(bad), None

    @staticmethod
    def check(fields, line, origin):
        if set(fields) - {"idem"} != KEYS or fields["v"] != 1 or fields["origin"] != origin:
            raise Bad("its fields, version or origin are wrong")
        canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if len(line) > MAX_LEAF or canonical.encode(errors="replace") != line:
            raise Bad("it is not in canonical form")
        texts = [fields[name] for name in ("actor", "type", "prev", "c")] + [fields.get("idem", "")]
        policy, refs = fields["policy"], fields["refs"]
        fits = (
            all(isinstance(text, str) for text in texts)
            and isinstance(refs, list)
            and all(isinstance(ref, str) for ref in refs)
            and all(a < b for a, b in itertools.pairwise(refs))
            and whole(fields["seq"])
            and whole(fields["ts"])
            and type(fields["v"]) is int
            and fields["decision"] in ("allow", "deny", "needs_approval", "system")
            and isinstance(policy, dict)
            and set(policy) == {"hash", "seq"}
            and whole(policy["seq"])
            and isinstance(policy["hash"], str)
            and re.fullmatch("[0-9a-f]{64}" if policy["seq"] else "", policy["hash"])
        )
        if not fits:
            raise Bad("a field has no valid value")
        if "idem" in fields:
            unbase64(fields["idem"], 32)

    def forgets(self):
        refs = self.fields["refs"] if self.fields["type"] == "context_forgotten" else []
        return [int(ref[6:]) for ref in refs if re.fullmatch(r"event:[1-9][0-9]{0,18}", ref)]


def chain(leaves, head):
    """Bad leaves, by their order, their times and their links: a dict from seq to why."""
    bad = {seq: leaf.why for seq, leaf in enumerate(leaves, 1) if leaf.why}
    before, shift = None, 0
    for seq, leaf in enumerate(leaves, 1):
        if leaf.why:
            before = leaf
            continue
        old_shift, shift = shift, leaf.fields["seq"] - seq
        if shift not in (0, old_shift):
            bad.setdefault(seq, f"in its place stands an entry numbered {leaf.fields['seq']}")
        expected = before.hash if before else bytes(32)
        if before and before.fields and leaf.fields["ts"] < before.fields["ts"]:
            bad.setdefault(seq, "its time is before that of the entry before")
        broken = leaf.prev != expected and leaf.hash != expected and shift <= old_shift
        if broken and seq - 1 not in bad:
            bad.setdefault(culprit(leaves, seq, head), "it or its link was changed")
        before = leaf
    return bad


def culprit(leaves, seq, head):
    """Whether entry `seq` or the one before was changed: the entry after it, or the signed root, tells."""
    leaf = leaves[seq - 1]
    if seq == 1:
        return 1
    if seq < len(leaves):
        after = leaves[seq]
        confirmed = after.fields is not None and after.prev == leaf.hash
    else:
        hashes = [other.hash for other in leaves[: seq - 2]] + [leaf.prev, leaf.hash]
        confirmed = head == (seq, root_of(hashes))
    return seq - 1 if confirmed else seq


def roots(leaves, signed, bad):
    """Compares each signed root with that of the leaves, where no leaf is known to be bad."""
    tree, at = Tree(), {}
    for size, root in signed:
        at.setdefault(size, []).append(root)
    for size in range(len(leaves) + 1):
        if size:
            tree.push(leaves[size - 1].hash)
        if any(root != tree.root() for root in at.get(size, [])) and not any(seq <= size for seq in bad):
            bad[size] = "a signed root covers other entries"
    for size in sorted(at):
        if size > len(leaves):
            bad.setdefault(len(leaves) + 1, f"{size} entries are signed, {len(leaves)} are here")
    return tree.root()


def payloads(lines, leaves, bad):
    """Opens every payload, and wants a declaration by a later entry for every missing one."""
    missing = set()
    for seq, (line, leaf) in enumerate(itertools.zip_longest(lines, leaves), 1):
        if line is None or leaf is None:
            bad.setdefault(seq, "leaves and payloads are not equally many")
            return
        if leaf.why:
            continue
        missing -= set(leaf.forgets())
        try:
            fields = parse_object(line)
            if fields == {"seq": seq}:
                missing.add(seq)
                continue
            if set(fields) != {"seq", "salt", "payload"} or fields["seq"] != seq:
                raise Bad("its payload line is malformed")
            salt, body = unbase64(fields["salt"], 32), unbase64(fields["payload"])
            if sha(b"ok/payload/v1\0", salt, body) != leaf.c:
                raise Bad("its payload is not the one that it commits to")
            held = parse_object(body, float)
            event = held.get("event")
            if set(held) != {"event", "gate"} or not isinstance(event, dict) or event.get("type") != leaf.fields["type"]:
                raise Bad("its payload is none that a gate writes")
        except Bad as why:
            bad.setdefault(seq, str(why))
    for seq in missing:
        bad.setdefault(seq, "its payload is missing, and no later entry declares it forgotten")


def lines_of(path):
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        raise Bad(f"{path.name} does not end with its line")
    return data.split(b"\n")[:-1]


def verify(folder, vkey, since):
    """The size, the root, and what is bad."""
    bad, signed, loose = {}, [], []
    stored = lines_of(folder / "vkey")
    keys = Keys([line.decode() for line in stored] or [""])
    if vkey and stored[0].decode() != vkey:
        former = [size for size, text in keys.texts if text == vkey]
        if former:
            bad[former[0] + 1] = "another key signs from here on than the one that you gave"
        else:
            loose.append("the stored verifier key is not the expected one")
            keys = Keys([vkey])
    leaves = [Leaf(line, keys.newest.name) for line in lines_of(folder / "leaves.jsonl")]
    head = None
    try:
        head = open_note((folder / "checkpoint").read_bytes().decode(), keys)
        signed.append(head)
        if len(leaves) > head[0]:
            bad[head[0] + 1] = "it is not signed"
    except (Bad, UnicodeDecodeError) as why:
        loose.append(f"checkpoint: {why}")
    published = (folder / "checkpoints").read_bytes()
    parts = re.split(rb"(?m)^--\n", published)
    if parts.pop():
        loose.append("the last published checkpoint is not closed")
    for text in parts:
        try:
            signed.append(open_note(text.decode(), keys, True))
        except (Bad, UnicodeDecodeError) as why:
            loose.append(f"a published checkpoint: {why}")
    sizes = [size for size, _ in signed[1 if head else 0 :]]
    if any(a >= b for a, b in itertools.pairwise(sizes)):
        loose.append("the published checkpoints are out of order")
    if since:
        signed.append(open_note(since, keys))
    bad.update(chain(leaves, head))
    root = roots(leaves, signed, bad)
    payload_lines = lines_of(folder / "payloads.jsonl")
    payloads(payload_lines, leaves, bad)
    for seq, why in keys.problems(leaves, payload_lines, set(sizes)):
        if seq is None:
            loose.append(why)
        else:
            bad.setdefault(seq, why)
    return len(leaves), root, bad, loose


def main():
    parser = argparse.ArgumentParser(description="Verify an exported log.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vkey", help="the verifier key that you trust, instead of the exported one")
    parser.add_argument("--since", type=pathlib.Path, help="a file with an older checkpoint that you hold")
    args = parser.parse_args()
    try:
        since = args.since.read_bytes().decode() if args.since else None
        size, root, bad, loose = verify(args.folder, args.vkey, since)
    except (Bad, OSError, UnicodeDecodeError) as why:
        size, root, bad, loose = 0, b"", {}, [str(why)]
    if bad:
        print("bad", min(bad), bad[min(bad)])
    elif loose:
        print("bad", "-", loose[0])
    else:
        print("ok", size, base64.b64encode(root).decode())
    return 1 if bad or loose else 0


if __name__ == "__main__":
    sys.exit(main())
