//! The values of number characters.

/// What a number character counts: 一 to 九, 十, 百, 千, 万, 亿, 零, 两, 廿, 卅, and the forms of accounts (壹 …). `None`
/// for others, and for vague ones (半, 双, 几).
///
/// ```
/// use duilian_prosody::number_value;
/// assert_eq!("零一两九十百千万亿".chars().filter_map(number_value).collect::<Vec<_>>(),
///     [0, 1, 2, 9, 10, 100, 1000, 10_000, 100_000_000]);
/// assert_eq!((number_value('叁'), number_value('半')), (Some(3), None));
/// ```
pub fn number_value(c: char) -> Option<u64> {
    Some(match c {
        '零' | '〇' => 0,
        '一' | '壹' => 1,
        '二' | '两' | '贰' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        '十' | '拾' => 10,
        '廿' => 20,
        '卅' => 30,
        '百' | '佰' => 100,
        '千' | '仟' => 1000,
        '万' | '萬' => 10_000,
        '亿' | '億' => 100_000_000,
        _ => return None,
    })
}
