#!/usr/bin/env python3
"""Writes the ids that the Python package `tokenizers` gives to lines of our own, as the expectation of a Rust test.

usage: pip install tokenizers; reference.py tokenizer.json > python_ids.json   (made with tokenizers 0.23)
"""
import json
import sys

from tokenizers import Tokenizer

LINES = ["春风又到门前柳，", "秋月初圆江上舟。", "花开花落，春去秋来", "𠮷日", "龙凤呈祥", "辰良日𠮷！开花暖春？"]

tokenizer = Tokenizer.from_file(sys.argv[1])
json.dump([[line, tokenizer.encode(line).ids] for line in LINES], sys.stdout, ensure_ascii=False, indent=1)
print()
