//! Lines with their devices, and couplets with which of them the answer has too.

use duilian_core::{Couplet, Direction, Line};
use duilian_prosody::{
    Confidence, Device, DeviceKind, Element, Outcome, Progression, device_report, devices,
};

fn join(places: &[usize]) -> String {
    places.iter().map(|place| (place + 1).to_string()).collect::<Vec<_>>().join(",")
}

/// A device in the notation of `devices.tsv`.
fn short(device: &Device) -> String {
    let detail = match device {
        Device::Chiasmus { first: a, second: b } | Device::Anadiplosis { closing: a, opening: b } => {
            format!("{}={}", join(a), join(b))
        }
        Device::Reduplication { pattern, places } => format!("{}:{}", pattern.letters(), join(places)),
        Device::SharedRadical { component, places } => format!("{component}:{}", join(places)),
        Device::FiveElements { elements, places } => {
            format!("{}:{}", elements.map(Element::character).iter().collect::<String>(), join(places))
        }
        Device::CharacterSplit { whole, parts, .. } => format!("{}={}", whole + 1, join(parts)),
        Device::Homophones { pairs, .. } => {
            pairs.iter().map(|(a, b)| format!("{}~{}", a + 1, b + 1)).collect::<Vec<_>>().join(",")
        }
        Device::Numbers { places, progression } => match progression {
            Some(Progression::Steps(step)) => format!("{step:+}:{}", join(places)),
            Some(other) => format!("{other:?}:{}", join(places)),
            None => join(places),
        },
        other => join(&other.places()),
    };
    let doubt = if device.confidence() == Confidence::Possible { "?" } else { "" };
    format!("{}{doubt} {detail}", device.kind().term())
}

#[test]
fn each_line_has_the_devices_that_the_cases_say() {
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (number, row) in (1..).zip(include_str!("devices.tsv").lines()) {
        if row.starts_with('#') {
            continue;
        }
        let (text, expected) = row.split_once('\t').unwrap_or((row, ""));
        let line = Line::parse(text).expect(text);
        let found = devices(&line);
        seen.extend(found.iter().map(Device::kind));
        let found: Vec<String> = found.iter().map(short).collect();
        if found.join("; ") != expected {
            wrong.push(format!("line {number}\n{text}\t{}", found.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), DeviceKind::ALL.len(), "kinds without a case: {seen:?}");
}

/// A couplet, and for each device of its upper line the places (from 1) at which the lower line misses it.
type Case<'a> = (&'a str, &'a str, &'a [(DeviceKind, &'a [usize])]);

#[test]
fn a_report_says_what_the_answer_has_too() {
    let cases: [Case<'_>; 22] = [
        ("云外云", "水中水", &[(DeviceKind::Reduplication, &[]), (DeviceKind::Directions, &[])]),
        ("天上天", "地里人", &[(DeviceKind::Reduplication, &[3]), (DeviceKind::Directions, &[])]),
        (
            "书养心，心养书",
            "酒怡性，性怡酒",
            &[(DeviceKind::Palindrome, &[]), (DeviceKind::Chiasmus, &[]), (DeviceKind::Anadiplosis, &[])],
        ),
        (
            "书养心，心养书",
            "酒怡性，人爱酒",
            &[
                (DeviceKind::Palindrome, &[5, 6]),
                (DeviceKind::Chiasmus, &[5, 6]),
                (DeviceKind::Anadiplosis, &[5]),
            ],
        ),
        ("喵喵喵", "汪汪汪", &[(DeviceKind::Run, &[])]),
        ("江河湖海", "松柏桃梅", &[(DeviceKind::SharedRadical, &[])]),
        ("江河湖海", "松柏桃花", &[(DeviceKind::SharedRadical, &[4])]),
        ("烟锁池塘柳", "灯铺江坝树", &[(DeviceKind::FiveElements, &[])]),
        ("烟锁池塘柳", "钟鸣江坝树", &[(DeviceKind::FiveElements, &[2])]),
        ("烟锁池塘柳", "炉灯江坝树", &[(DeviceKind::FiveElements, &[1, 2, 3, 4, 5])]),
        ("日月明", "小大尖", &[(DeviceKind::CharacterSplit, &[])]),
        ("日月明", "小大清", &[(DeviceKind::CharacterSplit, &[1, 2, 3])]),
        ("鸿飞江上鸟", "品饮三间口", &[(DeviceKind::CharacterSplit, &[]), (DeviceKind::Directions, &[])]),
        ("隔篱梨正白", "沿溪夕已红", &[(DeviceKind::Homophones, &[]), (DeviceKind::Colours, &[])]),
        ("隔篱梨正白", "沿溪草已红", &[(DeviceKind::Homophones, &[3]), (DeviceKind::Colours, &[])]),
        ("二、三、四、五", "六、七、八、九", &[(DeviceKind::Numbers, &[])]),
        ("二、三、四、五", "九、八、七、六", &[(DeviceKind::Numbers, &[1, 3, 5, 7])]),
        ("一人饮酒醉", "两鬓落霜寒", &[(DeviceKind::Numbers, &[])]),
        ("一人饮酒醉", "春鬓落霜寒", &[(DeviceKind::Numbers, &[1])]),
        ("三山半落", "五岭孤高", &[(DeviceKind::Numbers, &[])]),
        ("青山不老", "白水长流", &[(DeviceKind::Colours, &[]), (DeviceKind::FunctionWords, &[3])]),
        (
            "老师教学生，学生教老师",
            "好友",
            &[(DeviceKind::Chiasmus, &[7, 8, 9, 10, 11]), (DeviceKind::Anadiplosis, &[7, 8])],
        ),
    ];
    for (upper, lower, expected) in cases {
        let couplet = Couplet::parse(upper, lower).expect("valid");
        let report = device_report(&couplet, Direction::UpperToLower);
        let found: Vec<(DeviceKind, &[usize])> =
            report.iter().map(|finding| (finding.device.kind(), finding.outcome.places())).collect();
        assert_eq!(found, expected, "{upper} {lower}");
    }
}

#[test]
fn the_report_follows_the_direction() {
    let couplet = Couplet::parse("春风暖", "江河湖").expect("valid");
    assert!(device_report(&couplet, Direction::UpperToLower).is_empty());
    let report = device_report(&couplet, Direction::LowerToUpper);
    assert_eq!(report.len(), 1);
    assert_eq!(report[0].outcome, Outcome::Rate { met: 2, of: 3, places: vec![2] });
}

#[test]
fn devices_are_plain_data_and_readable_text() {
    for row in include_str!("devices.tsv").lines().filter(|row| !row.starts_with('#')) {
        let line = Line::parse(row.split('\t').next().unwrap_or_default()).expect(row);
        for device in devices(&line) {
            let json = serde_json::to_string(&device).expect("plain data");
            assert_eq!(serde_json::from_str::<Device>(&json).expect("written by us"), device);
            assert!(device.to_string().starts_with(device.kind().term()), "{device}");
        }
    }
    let line = Line::parse("日月明，小大尖").expect("valid");
    assert_eq!(
        devices(&line)[0].to_string(),
        "拆字 at 1, 2, 3: the others make up the one at 3, as the answer's should"
    );
    let json = serde_json::to_value(&devices(&line)[0]).expect("plain data");
    assert_eq!(
        json,
        serde_json::json!({"kind": "character_split", "whole": 2, "parts": [0, 1], "confidence": "sure"})
    );
}
