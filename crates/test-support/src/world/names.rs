//! Draws unique names for the things of the world.

use std::collections::HashSet;

use super::relations::{Kind, Language};
use crate::random::Random;

const FIRST: [&str; 24] = [
    "Bral", "Cor", "Dun", "Eld", "Fen", "Gar", "Hol", "Ist", "Jor", "Kel", "Lun", "Mar", "Nev",
    "Orl", "Pell", "Quar", "Ras", "Sten", "Tarn", "Ulv", "Vel", "Wen", "Yor", "Zan",
];
const LAST: [&str; 20] = [
    "a", "ba", "dak", "den", "din", "ek", "fa", "gol", "ida", "ka", "lin", "mo", "nis", "or",
    "ric", "sa", "tem", "un", "vik", "za",
];
const BIRDS: [&str; 12] = [
    "Petrel", "Heron", "Curlew", "Plover", "Gannet", "Osprey", "Tern", "Avocet", "Kestrel",
    "Linnet", "Swift", "Bittern",
];
const COLOURS: [&str; 12] = [
    "Amber", "Blue", "Copper", "Dusky", "Early", "Faithful", "Grey", "Hardy", "Ivory", "Jade",
    "Keen", "Lively",
];
const TRADES: [&str; 5] = ["Shipyard", "Lines", "Works", "Marine", "Brothers"];

const SURNAMES: [&str; 16] = [
    "沈", "顾", "陆", "苏", "韩", "冯", "魏", "蒋", "欧阳", "司徒", "慕容", "上官", "诸葛", "夏侯",
    "闻人", "澹台",
];
const GIVEN: [&str; 20] = [
    "若", "岚", "青", "砚", "秋", "映", "川", "朗", "舟", "禾", "宁", "远", "星", "芷", "枫", "黎",
    "松", "瑶", "峻", "澄",
];
const GRAND: [&str; 16] = [
    "飞", "翔", "振", "宏", "瑞", "祥", "泰", "隆", "恒", "盛", "嘉", "裕", "景", "曜", "凌", "鸿",
];
const YARDS: [&str; 4] = ["船厂", "航运", "海事", "造船所"];

/// The names in use, each given once.
#[derive(Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    pub(crate) fn of(&mut self, kind: Kind, language: Language, random: &mut Random) -> String {
        loop {
            let name = match language {
                Language::English => english(kind, random),
                Language::Chinese => chinese(kind, random),
            };
            if self.0.insert(name.clone()) {
                return name;
            }
        }
    }

    pub(crate) fn country(&mut self, language: Language, random: &mut Random) -> String {
        self.unlike(
            |random| match language {
                Language::English => format!("{}land", stem(random)),
                Language::Chinese => format!("{}{}国", random.one(&GRAND), random.one(&GIVEN)),
            },
            random,
        )
    }

    pub(crate) fn river(&mut self, language: Language, random: &mut Random) -> String {
        self.unlike(
            |random| match language {
                Language::English => format!("{}water", stem(random)),
                Language::Chinese => format!("{}{}河", random.one(&GIVEN), random.one(&GIVEN)),
            },
            random,
        )
    }

    fn unlike(&mut self, draw: impl Fn(&mut Random) -> String, random: &mut Random) -> String {
        loop {
            let name = draw(random);
            if self.0.insert(name.clone()) {
                return name;
            }
        }
    }
}

fn stem(random: &mut Random) -> String {
    format!("{}{}", random.one(&FIRST), random.one(&LAST))
}

fn english(kind: Kind, random: &mut Random) -> String {
    match kind {
        Kind::Ship => {
            format!("{} {} {}", random.one(&COLOURS), random.one(&BIRDS), stem(random))
        }
        Kind::Company => format!("{} {}", stem(random), random.one(&TRADES)),
        Kind::Person => format!("{} {}{}", stem(random), stem(random), random.one(&LAST)),
        Kind::Port | Kind::Value => format!("{}haven", stem(random)),
    }
}

fn chinese(kind: Kind, random: &mut Random) -> String {
    let pair = |random: &mut Random| format!("{}{}", random.one(&GRAND), random.one(&GIVEN));
    match kind {
        Kind::Ship => format!("{}号", pair(random)),
        Kind::Company => format!("{}{}", pair(random), random.one(&YARDS)),
        Kind::Person => {
            format!("{}{}{}", random.one(&SURNAMES), random.one(&GIVEN), random.one(&GIVEN))
        }
        Kind::Port | Kind::Value => format!("{}港", pair(random)),
    }
}
