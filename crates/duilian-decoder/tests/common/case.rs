//! Random questions under random constraints, and whether what comes of them is right.

use std::collections::HashSet;

use duilian_core::{Direction, Line, MARKS, is_han, is_mark};
use duilian_decoder::{
    Answer, DecodeError, DecodeOptions, Decoder, DeviceConstraint, DeviceOptions, Question, SearchMethod,
};
use duilian_prosody::{BlockedWords, ToneBook, required_end_tone, satisfies_end_tone};

use super::{Characters, Scripted};

/// Lines with devices.
const DEVICES: [&str; 12] = [
    "烟锁池塘柳",
    "江河湖海",
    "寄宿客家，牢守寒窗",
    "女子好，少女更妙",
    "日月明",
    "此木是柴山山出",
    "移椅倚桐同玩月",
    "贾岛醉来非假倒",
    "二、三、四、五",
    "上海自来水来自海上",
    "人人为我，我为人人",
    "山连水，水连天",
];

/// Characters with parts, elements and values, so that devices can be answered.
const ANSWERS: &str = "炮镇海城楼桃梅松柏枫桂林森炎火土木金水鸿江鸟工可何人丁尖小大明日月从众女子好少妙田心思一二三四五六七八九十百千\
                       同童桐痛移宜倚怡岛到倒道贾甲家假此柴出山石岩因烟思意情性怀忆松公枝支杆干";

/// A stream of random numbers (splitmix64): the same seed gives the same case on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// Answered, all as it should be.
    Answered,
    /// Answered, but some devices were waived.
    Waived,
    /// No line keeps all constraints.
    Conflict,
    /// Not found out whether there is one.
    Undecided,
}

/// A question with the options under which it is asked.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) characters: Vec<char>,
    pub(crate) question: Question,
    pub(crate) options: DecodeOptions,
    seed: u64,
}

impl Case {
    /// The case with this number, or none if the line has no Han character.
    pub(crate) fn new(seed: u64) -> Option<Self> {
        let mut random = Random::new(seed);
        let mut all = Characters::common().han();
        all.extend(ANSWERS.chars().filter(|&c| is_han(c)));
        let characters = match random.below(3) {
            0 => (0..3 + random.below(30)).map(|_| random.pick(&all)).collect(),
            _ => all.clone(),
        };
        let line = Self::line(&mut random, &all)?;
        let direction = Direction::ALL[random.below(2)];
        let mut question = Question::new(line.clone(), direction);
        let han: Vec<usize> = (0..line.len()).filter(|&place| !is_mark(line.chars()[place])).collect();
        if random.one_in(3) {
            for _ in 0..=random.below(3) {
                let (place, c) = (random.pick(&han), random.pick(&characters));
                question = question.with_lock(place, c).expect("a Han place");
            }
        }
        let options = Self::options(&mut random, &all, han.len());
        Some(Self { characters, question, options, seed })
    }

    fn line(random: &mut Random, all: &[char]) -> Option<Line> {
        if random.one_in(4) {
            let devices = random.pick(&DEVICES);
            return Line::parse(devices).ok();
        }
        let few: Vec<char> = (0..3).map(|_| random.pick(all)).collect();
        let length = 1 + random.below(40);
        let character = |_| match random.below(11) {
            0..6 => random.pick(all),
            6..9 => random.pick(&few),
            9 => char::from_u32(0x9A6D + random.below(0x400) as u32).unwrap_or('一'),
            _ => random.pick(&MARKS),
        };
        Line::from_chars((0..length).map(character).collect()).ok()
    }

    fn options(random: &mut Random, all: &[char], length: usize) -> DecodeOptions {
        let beam_size = 1 + random.below(4);
        let sign = |random: &mut Random| random.pick(&['平', '仄', '中', '中']);
        let tone_pattern = random.one_in(10).then(|| {
            let signs: String = (0..length).map(|_| sign(random)).collect();
            signs.parse().expect("signs")
        });
        DecodeOptions {
            search: random.pick(&[
                SearchMethod::Beam,
                SearchMethod::Beam,
                SearchMethod::Sampling,
                SearchMethod::BestFirst,
            ]),
            beam_size,
            num_hypotheses: 1 + random.below(3),
            num_beam_groups: 1 + random.below(beam_size),
            max_batch_size: 1 + random.below(3),
            sampling_topk: random.below(20),
            sampling_topp: random.pick(&[1.0, 0.8]),
            sampling_temperature: random.pick(&[1.0, 2.0]),
            seed: random.next(),
            polish_rounds: random.below(3),
            polish_places: 1 + random.below(3),
            end_tone: !random.one_in(8),
            repetition: !random.one_in(12),
            devices: DeviceOptions { required: random.one_in(6), ..DeviceOptions::default() },
            mirror: random.one_in(12),
            tone_pattern,
            forbidden_characters: (0..random.below(8)).map(|_| random.pick(all)).collect(),
            tone_opposition_weight: random.pick(&[0.0, 1.0]),
            word_class_weight: random.pick(&[0.0, 1.0]),
            theme: random.pick(&["", "春水"]).into(),
            ..DecodeOptions::default()
        }
    }

    /// Asks, and finds out whether all is as it should be.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn check(&self) -> Result<Fate, String> {
        let vocabulary = Characters::new(self.characters.iter().copied());
        let model = Scripted::new(&vocabulary, self.seed);
        let decoder = vocabulary.decoder(self.options.clone());
        let result = decoder.answer(&model, &self.question);
        let fate = match &result {
            Ok(answers) => self.judge(&decoder, answers)?,
            Err(DecodeError::Conflict { constraints, place }) => {
                if constraints.is_empty() || !(1..=self.question.line().len()).contains(place) {
                    return Err(format!("a conflict of {constraints:?} at {place}"));
                }
                Fate::Conflict
            }
            Err(DecodeError::Undecided { .. }) => Fate::Undecided,
            Err(DecodeError::LockUnknown { character, .. }) if !self.characters.contains(character) => {
                Fate::Conflict
            }
            Err(other) => return Err(other.to_string()),
        };
        let again = decoder.answer(&model, &self.question);
        match (result, again) {
            (Ok(one), Ok(other)) if one == other => Ok(fate),
            (Err(one), Err(other)) if one.to_string() == other.to_string() => Ok(fate),
            _ => Err("the same question is answered in two ways".into()),
        }
    }

    fn judge(&self, decoder: &Decoder, answers: &[Answer]) -> Result<Fate, String> {
        let lines: HashSet<&Line> = answers.iter().map(|answer| &answer.line).collect();
        if answers.is_empty() || answers.len() > self.options.num_hypotheses || lines.len() < answers.len() {
            return Err(format!("{} answers, {} of them distinct", answers.len(), lines.len()));
        }
        let plan = decoder.plan(&self.question).map_err(|error| error.to_string())?;
        for answer in answers {
            let broken = self.broken(answer);
            if !broken.is_empty() {
                return Err(format!("{} breaks {broken:?}", answer.line));
            }
            if answer.waived != plan.waived() {
                return Err(format!("{:?} waived instead of {:?}", answer.waived, plan.waived()));
            }
        }
        Ok(if plan.waived().is_empty() { Fate::Answered } else { Fate::Waived })
    }

    /// What an answer breaks, found out without the decoder's own code.
    fn broken(&self, answer: &Answer) -> Vec<String> {
        let (question, options) = (&self.question, &self.options);
        let (given, line) = (question.line().chars(), answer.line.chars());
        let mut broken = Vec::new();
        let mut check = |holds: bool, rule: &str| {
            if !holds {
                broken.push(rule.to_owned());
            }
        };
        let marks = given.iter().zip(line).all(|(&a, &b)| if is_mark(a) { a == b } else { is_han(b) });
        check(given.len() == line.len() && marks, "R1");
        let same = question.line().repetition() == answer.line.repetition();
        check(!options.repetition || same, "R2");
        check(!answer.line.han().any(|c| question.line().han().any(|d| c == d)), "R3");
        check(BlockedWords::default().find(line).is_none(), "R4");
        let (tone, hard) = required_end_tone(question.last_han(), question.direction());
        let last = answer.line.han().last().expect("a line has Han characters");
        check(!options.end_tone || !hard || satisfies_end_tone(last, tone), "R5");
        check((0..given.len()).all(|place| question.lock(place).is_none_or(|c| c == line[place])), "locks");
        check(!line.iter().any(|&c| options.forbidden_characters.contains(c)), "forbidden characters");
        let han: Vec<char> = answer.line.han().collect();
        check(!options.mirror || han.iter().eq(han.iter().rev()), "mirror");
        let fits =
            |pattern: &duilian_prosody::TonePattern| pattern.matches(&answer.line, ToneBook::default());
        check(options.tone_pattern.as_ref().is_none_or(fits), "tone pattern");
        for constraint in DeviceConstraint::detect(question, &options.devices) {
            use duilian_decoder::Constraint;
            let device = constraint.device();
            let counts = options.repetition || !device.kind().follows_from_repetition();
            let waived = answer.waived.contains(&constraint.name());
            check(!counts || waived || device.is_met_by(&answer.line), &constraint.name());
        }
        broken
    }
}
