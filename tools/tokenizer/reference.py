#!/usr/bin/env python3
"""Writes what the Python package `tokenizers` makes of a tokenizer.json, as the expectation of a Rust test.

    pip install -r tools/tokenizer/requirements.txt
    python tools/tokenizer/reference.py          # or --check: compare with the file, write nothing

It reads crates/duilian-tokenizer/tests/data/tokenizer.json, which the test of duilian-tokenizer holds to the bytes
that the crate writes, and writes python_ids.json beside it: the id of every token, and the ids of lines of our own.
It also makes sure that the file comes out of Python as it went in.
"""

import argparse
import json
import pathlib
import sys

from tokenizers import Tokenizer

DATA = pathlib.Path(__file__).resolve().parents[2] / "crates" / "duilian-tokenizer" / "tests" / "data"
# Known characters, unknown ones, all marks, a character of plane 2.
LINES = [
    "春风又到门前柳，",
    "秋月初圆江上舟。",
    "花开花落，春去秋来",
    "𠮷日",
    "龙凤呈祥",
    "辰良日𠮷！开花暖春？",
    "，；、。！？：…—·春",
]


def expectation(path):
    tokenizer = Tokenizer.from_file(str(path))
    assert tokenizer.to_str(pretty=True) == path.read_text(encoding="utf-8"), "Python writes the file differently"
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    pairs = [json.dumps(pair, ensure_ascii=False) for pair in ([line, tokenizer.encode(line).ids] for line in LINES)]
    return '{\n "vocabulary": %s,\n "lines": [\n  %s\n ]\n}\n' % (
        json.dumps(dict(vocabulary), ensure_ascii=False),
        ",\n  ".join(pairs),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with python_ids.json, write nothing")
    check = parser.parse_args().check
    text, out = expectation(DATA / "tokenizer.json"), DATA / "python_ids.json"
    if not check:
        out.write_text(text, encoding="utf-8")
    elif out.read_text(encoding="utf-8") != text:
        sys.exit(f"{out} is not what Python gives now")


if __name__ == "__main__":
    main()
