//! Counts the typing errors between two words.

/// The fewest typing errors that turn `meant` into `typed`: a letter left out, added or replaced, or
/// two neighbours exchanged, each counting 1. `None` above `most`, or if the words begin
/// differently: the first letter of one must be the first or second letter of the other, because
/// writers rarely miss it and many different words differ in it alone.
pub fn typing_errors(typed: &str, meant: &str, most: usize) -> Option<usize> {
    if most < typed.chars().count().abs_diff(meant.chars().count()) || !begin_alike(typed, meant) {
        return None;
    }
    let letters: Vec<char> = meant.chars().collect();
    // Optimal string alignment: one row for each letter of `typed`.
    let (mut before, mut last) = (Vec::new(), (0..=letters.len()).collect::<Vec<_>>());
    let mut previous = None;
    for (count, own) in typed.chars().enumerate() {
        let mut left = count + 1;
        let mut row = vec![left];
        let mut behind = None;
        for (place, other) in letters.iter().enumerate() {
            let replaced = at(&last, place) + usize::from(own != *other);
            let mut errors = replaced.min(at(&last, place + 1) + 1).min(left + 1);
            if behind == Some(own) && previous == Some(*other) {
                errors = errors.min(at(&before, place.saturating_sub(1)) + 1);
            }
            behind = Some(*other);
            left = errors;
            row.push(errors);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(own);
    }
    last.last().copied().filter(|errors| *errors <= most)
}

/// The typing errors that a word of this length may have: two from eight letters on, else one. With two,
/// *father* would become *further*.
pub fn most_errors(typed: &str) -> usize {
    if 8 <= typed.len() { 2 } else { 1 }
}

/// Whether `typed` is `meant` with typing errors rather than another word, both in small letters. Another
/// ending (*supervises* and *supervisor*) is no error. One letter for another is one in short words only
/// between vowels, because *park* is no mistyped *part*.
pub fn is_mistyped(typed: &str, meant: &str) -> bool {
    let most = most_errors(typed);
    let pairs = || typed.chars().zip(meant.chars());
    let replaced: Vec<(char, char)> = pairs().filter(|(own, other)| own != other).collect();
    let is_vowel = |c: char| "aeiouy".contains(c);
    match typing_errors(typed, meant, most) {
        None | Some(0) => false,
        Some(1) if most == 1 && typed.len() == meant.len() && replaced.len() == 1 => {
            5 <= typed.len() && replaced.iter().all(|(a, b)| is_vowel(*a) && is_vowel(*b))
        }
        Some(1) => true,
        Some(_) => {
            let shared = pairs().take_while(|(own, other)| own == other).count();
            shared + 3 < typed.len().max(meant.len())
        }
    }
}

fn begin_alike(one: &str, other: &str) -> bool {
    let first_two = |word: &str| {
        let mut letters = word.chars();
        (letters.next(), letters.next())
    };
    let ((a, second_a), (b, second_b)) = (first_two(one), first_two(other));
    a.is_some() && b.is_some() && (a == b || a == second_b || second_a == b)
}

fn at(row: &[usize], place: usize) -> usize {
    row.get(place).copied().unwrap_or(usize::MAX / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_words_and_endings_are_not_mistyped() {
        for (typed, meant) in [
            ("daly", "daily"),
            ("meels", "meals"),
            ("suppleir", "supplier"),
            ("alowance", "allowance"),
            ("recieved", "received"),
            ("insurence", "insurance"),
        ] {
            assert!(is_mistyped(typed, meant), "{typed} {meant}");
        }
        for (typed, meant) in [
            ("supervises", "supervisor"),
            ("vacation", "vat"),
            ("leftover", "left"),
            ("park", "part"),
            ("house", "horse"),
            ("lost", "list"),
            ("father", "further"),
            ("meals", "meals"),
        ] {
            assert!(!is_mistyped(typed, meant), "{typed} {meant}");
        }
    }

    #[test]
    fn each_typing_error_counts_once() {
        for (typed, meant, errors) in [
            ("daly", "daily", Some(1)),
            ("meels", "meals", Some(1)),
            ("recieve", "receive", Some(1)),
            ("xpenses", "expenses", Some(1)),
            ("adily", "daily", Some(1)),
            ("accomodtion", "accommodation", Some(2)),
            ("daily", "daily", Some(0)),
            ("father", "rather", None),
            ("warm", "farm", None),
            ("meeels", "maels", Some(2)),
            ("crane", "harbour", None),
            ("", "a", None),
        ] {
            assert_eq!(typing_errors(typed, meant, 2), errors, "{typed} {meant}");
        }
        assert_eq!(typing_errors("accomodtion", "accommodation", 1), None);
    }

    proptest! {
        #[test]
        fn the_count_is_the_same_in_both_directions(a in "[ab]{0,6}", b in "[ab]{0,6}") {
            prop_assert_eq!(typing_errors(&a, &b, 6), typing_errors(&b, &a, 6));
        }

        #[test]
        fn one_added_letter_is_one_error(word in "a[ab]{1,6}", place in 1..6_usize) {
            let mut longer = word.clone();
            longer.insert(place.min(word.len()), 'c');
            prop_assert_eq!(typing_errors(&longer, &word, 2), Some(1));
        }
    }
}
