//! The whole way from small inputs to files. The poems are put together from the authored corpus.

#![allow(clippy::unwrap_used)] // a test that cannot go on stops
#![allow(clippy::format_collect)] // small texts

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use duilian_core::Couplet;
use duilian_corpus::{
    CleanConfig, CleanReport, CorpusError, Input, RejectReason, Source, authored, check_pair, clean,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;

/// Authored couplets of seven characters, four of which make a poem of eight lines.
fn poems() -> Vec<Vec<Couplet>> {
    let couplets: Vec<Couplet> =
        authored().map(|a| a.couplet).filter(|c| c.upper().len() == 7 && c.upper().han_len() == 7).collect();
    couplets.chunks_exact(4).map(<[Couplet]>::to_vec).collect()
}

fn json_of(poems: &[Vec<Couplet>]) -> String {
    let paragraphs = |poem: &Vec<Couplet>| {
        poem.iter().map(|c| format!("{}，{}。", c.upper(), c.lower())).collect::<Vec<String>>()
    };
    let poems: Vec<_> = poems
        .iter()
        .map(|poem| serde_json::json!({ "author": "无名", "paragraphs": paragraphs(poem), "title": "无题" }))
        .collect();
    serde_json::to_string_pretty(&poems).unwrap()
}

/// A package of poems, a lyric, the primer, and files that are of no use.
fn entries() -> Vec<(String, String)> {
    let mut entries = vec![("package/README.md".to_owned(), "no verse".to_owned())];
    for (i, part) in poems().chunks(40).enumerate() {
        entries.push((format!("package/dist/quantangshi/poet.tang.{i}000.json"), json_of(part)));
    }
    let lyric =
        r#"[{ "rhythmic": "调", "paragraphs": ["庭前花發，檻外風生。", "夜深人未寢，一盞□燈，半卷殘書"] }]"#;
    entries.push(("package/dist/songci/ci.song.0.json".to_owned(), lyric.to_owned()));
    let primer =
        r#"{ "content": [{ "content": [{ "paragraphs": ["山对海，月对风。三尺雪，九秋虹。"] }] }] }"#;
    entries.push(("package/dist/mengxue/shenglvqimeng.json".to_owned(), primer.to_owned()));
    entries
}

fn tarball(entries: &[(String, String)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Settings that take the poems alone, and enough of them for validation.
fn only(inputs: Vec<Input>) -> CleanConfig {
    CleanConfig {
        inputs,
        authored: false,
        write_rejects: true,
        validation_share: 0.1,
        ..CleanConfig::default()
    }
}

fn run(config: &CleanConfig, out: &Path) -> CleanReport {
    clean(config, out, &mut |_| {}).unwrap()
}

/// Content of all files by name, settings apart.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let names = ["train.tsv", "valid.tsv", "valid_authored.tsv", "rejects.tsv", "report.json"];
    names.map(|n| (n.to_owned(), std::fs::read_to_string(folder.join(n)).unwrap())).into()
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|row| row.split('\t').collect()).collect()
}

#[test]
fn any_number_of_threads_and_a_folder_give_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let entries = entries();
    let packed = file(&folder, "package.tgz", tarball(&entries));
    let config =
        |path: &Path| CleanConfig { authored: true, ..only(vec![Input::ChinesePoetry(path.into())]) };
    let mut all = Vec::new();
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let out = folder.path().join(format!("out{threads}"));
        pool.install(|| run(&config(&packed), &out));
        all.push(contents(&out));
    }
    assert_eq!(all[0], all[1]);
    assert!(all[0]["train.tsv"].lines().count() > 10_000);

    // A folder is read in another order, by name: with the names in order nothing else differs.
    let mut sorted = entries;
    sorted.sort();
    for (name, text) in &sorted {
        let path = folder.path().join("unpacked").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let packed = file(&folder, "sorted.tgz", tarball(&sorted));
    run(&config(&packed), &folder.path().join("from_tarball"));
    run(&config(&folder.path().join("unpacked")), &folder.path().join("from_folder"));
    assert_eq!(contents(&folder.path().join("from_tarball")), contents(&folder.path().join("from_folder")));
}

#[test]
fn every_candidate_is_written_or_rejected_with_its_reason() {
    let folder = TempDir::new().unwrap();
    let packed = file(&folder, "package.tgz", tarball(&entries()));
    let out = folder.path().join("out");
    let report = run(&CleanConfig { joined_share: 0.5, ..only(vec![Input::ChinesePoetry(packed)]) }, &out);
    assert_eq!(report.total_candidates(), report.total_written() + report.total_rejects());
    let contents = contents(&out);
    let lines = |name: &str| contents[name].lines().count() as u64;
    assert_eq!(lines("rejects.tsv"), report.total_rejects());
    assert_eq!(lines("train.tsv") + lines("valid.tsv"), report.total_written());
    assert!(lines("valid.tsv") > 0 && lines("valid_authored.tsv") == 0);
    let missing: Vec<Vec<&str>> =
        rows(&contents["rejects.tsv"]).into_iter().filter(|r| r[3] == "missing_character").collect();
    assert_eq!(missing, [["一盏□灯", "半卷残书", "ci", "missing_character", ""]]);
    assert_eq!(report.unpaired_clauses, 1, "the clause of five characters");
    let poems = poems().len() as u64;
    assert_eq!(report.candidates[&Source::Regulated], 2 * poems);
    assert_eq!(report.candidates[&Source::Mined], 2 * poems);
    assert_eq!(report.candidates[&Source::Shenglv], 3);
    assert_eq!((report.files_skipped, report.texts), (1, poems + 2));
    // The report that is written is the one that is returned, and its table names what happened.
    let written: CleanReport = serde_json::from_str(&contents["report.json"]).unwrap();
    assert_eq!(written, report);
    assert!(report.to_string().contains("- missing_character"));
    for name in ["train.tsv", "valid.tsv"] {
        for row in rows(&contents[name]) {
            let couplet = Couplet::parse(row[0], row[1]).unwrap();
            assert_eq!(check_pair(&couplet, true), None, "{couplet}");
            assert!(row[3].parse::<f32>().is_ok());
        }
    }
}

#[test]
fn a_poem_stands_on_one_side_and_no_line_on_both() {
    let folder = TempDir::new().unwrap();
    let packed = file(&folder, "package.tgz", tarball(&entries()));
    let out = folder.path().join("out");
    run(&CleanConfig { joined_share: 1.0, ..only(vec![Input::ChinesePoetry(packed)]) }, &out);
    let contents = contents(&out);
    let clauses = |name: &str| -> BTreeSet<String> {
        let rows = rows(&contents[name]).into_iter();
        rows.flat_map(|r| [r[0].to_owned(), r[1].to_owned()])
            .flat_map(|line| line.split('，').map(str::to_owned).collect::<Vec<_>>())
            .collect()
    };
    let (train, valid) = (clauses("train.tsv"), clauses("valid.tsv"));
    assert!(valid.len() > 100 && train.len() > valid.len());
    assert_eq!(train.intersection(&valid).count(), 0);
    for poem in poems() {
        let held_out = poem.iter().any(|c| valid.contains(&c.upper().to_string()));
        let trained = poem.iter().any(|c| train.contains(&c.upper().to_string()));
        assert!(!(held_out && trained), "{}", poem[0]);
    }
}

#[test]
fn measured_cases_are_dropped_with_everything_that_holds_them() {
    let folder = TempDir::new().unwrap();
    let packed = file(&folder, "package.tgz", tarball(&entries()));
    let exact = poems()[3][1].clone();
    let near: String = poems()[5][2].lower().to_string().replace(poems()[5][2].lower().chars()[3], "甲");
    let cases = file(&folder, "cases.tsv", format!("upper\tlower\n{exact}\r\n{near}\t{near}\n"));
    let config = CleanConfig {
        exclude: vec![cases],
        joined_share: 1.0,
        min_score: -99.0,
        min_regulated_score: -99.0,
        ..only(vec![Input::ChinesePoetry(packed)])
    };
    let out = folder.path().join("out");
    let report = run(&config, &out);
    // Two pairs, and what they are joined in.
    assert!(report.rejects[&RejectReason::MeasuredCase].values().sum::<u64>() >= 4);
    let contents = contents(&out);
    for name in ["train.tsv", "valid.tsv"] {
        assert!(!contents[name].contains(&exact.upper().to_string()));
        assert!(!contents[name].contains(&poems()[5][2].upper().to_string()));
    }
}

#[test]
fn all_formats_of_pairs_give_the_same() {
    let folder = TempDir::new().unwrap();
    let spaced = |line: &str| line.chars().map(String::from).collect::<Vec<_>>().join(" ");
    let pairs = [("雲開山自靜", "月落水初明"), ("一屋書聲,半窗燈影", "满庭花气,几案茶香")];
    let tsv: String = pairs.iter().map(|(u, l)| format!("{u}\t{l}\tx\r\n")).collect();
    let json: String = pairs
        .iter()
        .map(|(u, l)| format!("{}\n", serde_json::json!({ "upper": u, "lower": l, "n": 1 })))
        .collect();
    let upper: String = pairs.iter().map(|(u, _)| format!("{} \r\n", spaced(u))).collect();
    let lower: String = pairs.iter().map(|(_, l)| format!("{}\n", spaced(l))).collect();
    let inputs = [
        Input::Tsv(file(&folder, "pairs.tsv", format!("\u{FEFF}upper\tlower\n{tsv}\n"))),
        Input::JsonLines(file(&folder, "pairs.jsonl", json)),
        Input::InOut(file(&folder, "in.txt", upper), file(&folder, "out.txt", lower)),
    ];
    for input in inputs {
        let out = folder.path().join("out");
        let config = CleanConfig { validation_share: 0.0, ..only(vec![input.clone()]) };
        run(&config, &out);
        let text = contents(&out)["train.tsv"].clone();
        let found: Vec<String> = rows(&text).iter().map(|r| r[..3].join("\t")).collect();
        let expected = ["云开山自静\t月落水初明\tuser", "一屋书声，半窗灯影\t满庭花气，几案茶香\tuser"];
        assert_eq!(found, expected, "{input:?}");
    }
}

#[test]
fn rejected_pairs_have_the_reason_that_fits() {
    let cases = [
        ("春□来", "秋风去", "missing_character"),
        ("春风a", "秋雨来", "not_han"),
        ("", "秋雨来", "not_han"),
        ("春风来也", "秋雨去", "unequal_length"),
        ("春风，来也", "秋雨去，了", "unequal_marks"),
        ("声声慢", "步步高", ""),
        ("声声慢", "步履高", "repetition"),
        ("步履慢", "声声高", "repetition"),
        ("春风到", "春雨来", "shared_character"),
        ("白日依山尽", "黄河入海流", ""),
        ("白日依山尽", "黄河入海流", "duplicate"),
        ("白日衔山尽", "黄河入海流", "near_duplicate"),
    ];
    let folder = TempDir::new().unwrap();
    let tsv: String = cases.iter().map(|(u, l, _)| format!("{u}\t{l}\n")).collect();
    let input = Input::Tsv(file(&folder, "pairs.tsv", tsv));
    let out = folder.path().join("out");
    run(&CleanConfig { validation_share: 0.0, max_length: 9, ..only(vec![input]) }, &out);
    let text = contents(&out)["rejects.tsv"].clone();
    let reasons: Vec<(&str, &str, &str)> = rows(&text).into_iter().map(|r| (r[0], r[1], r[3])).collect();
    let expected: Vec<_> = cases.iter().copied().filter(|c| !c.2.is_empty()).collect();
    assert_eq!(reasons, expected);
}

#[test]
fn bad_input_is_a_named_error_and_leaves_the_folder_alone() {
    let folder = TempDir::new().unwrap();
    let good = tarball(&entries());
    let poem = "package/dist/quantangshi/poet.song.0.json".to_owned();
    let with = |text: &str| tarball(&[(poem.clone(), text.to_owned())]);
    let mut flipped = good.clone();
    let end = flipped.len() - 6; // in the checksum
    flipped[end] ^= 0xFF;
    let f = |name: &str, bytes: &[u8]| file(&folder, name, bytes);
    let cases: Vec<(Input, &str)> = vec![
        (Input::ChinesePoetry(f("cut.tgz", &good[..good.len() / 2])), "cut.tgz is damaged after "),
        (Input::ChinesePoetry(f("flipped.tgz", &flipped)), "flipped.tgz is damaged after "),
        (Input::ChinesePoetry(f("text.tgz", b"no tarball")), "text.tgz is damaged after 0 entries"),
        (Input::ChinesePoetry(f("none.tgz", &tarball(&entries()[..1]))), "none.tgz has no poems"),
        (Input::ChinesePoetry(folder.path().join("gone.tgz")), "cannot open "),
        (
            Input::ChinesePoetry(f("json.tgz", &with("[\n{ \"paragraphs\": [\"春\", }]"))),
            "json.tgz: package/dist/quantangshi/poet.song.0.json, line 2, column 25: expected value",
        ),
        (
            Input::ChinesePoetry(f("type.tgz", &with("[{ \"paragraphs\": 7 }]"))),
            "line 1, column 18: invalid type: integer `7`",
        ),
        (
            Input::Tsv(f("latin.tsv", b"\xE6\x98\xA5\t\xE7\xA7\x8B\nab\xFF\tc\n")),
            "latin.tsv, line 2: not UTF-8 after byte 2",
        ),
        (Input::Tsv(f("tab.tsv", "春\t秋\n春秋\n".as_bytes())), "tab.tsv, line 2: there is no tab"),
        (Input::Tsv(folder.path().join("gone.tsv")), "cannot open "),
        (
            Input::JsonLines(f(
                "a.jsonl",
                "{\"upper\":\"春\",\"lower\":\"秋\"}\n{\"upper\":\"春\"}\n".as_bytes(),
            )),
            "a.jsonl, line 2: byte 15: missing field `lower`",
        ),
        (
            Input::InOut(f("in.txt", "春\n夏\n".as_bytes()), f("out.txt", "秋\n".as_bytes())),
            "out.txt, line 2: the file ends before the other one",
        ),
    ];
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("train.tsv"), "old").unwrap();
    for (input, expected) in cases {
        let error = clean(&only(vec![input.clone()]), &out, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{input:?}: {error}");
        let names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["train.tsv"], "{input:?}");
        assert_eq!(std::fs::read_to_string(out.join("train.tsv")).unwrap(), "old");
    }
    let exclude = CleanConfig { exclude: vec![folder.path().join("gone.tsv")], ..CleanConfig::default() };
    assert!(matches!(clean(&exclude, &out, &mut |_| {}), Err(CorpusError::Io { action: "open", .. })));
    let config = CleanConfig { joined_share: 2.0, ..CleanConfig::default() };
    assert!(matches!(
        clean(&config, &out, &mut |_| {}),
        Err(CorpusError::InvalidConfig { field: "joined_share", .. })
    ));
    // A file where the folder should be.
    let blocked = clean(&CleanConfig::default(), &out.join("train.tsv"), &mut |_| {});
    assert!(matches!(blocked, Err(CorpusError::Io { action: "make", .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn nothing_vanishes(lines in prop::collection::vec("[春夏秋冬风花雪月，。 □ax]{0,6}", 0..80), seed: u64) {
        let folder = TempDir::new().unwrap();
        let tsv: String = lines.chunks_exact(2).map(|p| format!("{}\t{}\n", p[0], p[1])).collect();
        let input = Input::Tsv(file(&folder, "pairs.tsv", tsv));
        let out = folder.path().join("out");
        let report = run(&CleanConfig { seed, ..only(vec![input]) }, &out);
        prop_assert_eq!(report.total_candidates(), (lines.len() / 2) as u64);
        prop_assert_eq!(report.total_candidates(), report.total_written() + report.total_rejects());
        let contents = contents(&out);
        prop_assert_eq!(contents["rejects.tsv"].lines().count() as u64, report.total_rejects());
    }
}
