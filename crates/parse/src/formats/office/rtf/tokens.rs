//! Splits RTF into tokens: braces, control words with their numbers, bytes of text.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// `\name123`; symbols such as `\~` count as words of one letter.
    Word {
        name: &'a [u8],
        number: Option<i32>,
    },
    /// A byte of text in the font's code page, plain or as `\'hh`.
    Byte(u8),
}

/// The tokens of a file.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn control(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.rest.split_first()?;
        if !first.is_ascii_alphabetic() {
            self.rest = rest;
            if *first == b'\'' {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                self.rest = rest.get(2..).unwrap_or_default();
                return Some(byte.map_or(Token::Word { name: b"'", number: None }, Token::Byte));
            }
            let name = std::slice::from_ref(first);
            return Some(Token::Word { name, number: None });
        }
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (name, rest) = self.rest.split_at_checked(length)?;
        let minus = usize::from(rest.first() == Some(&b'-'));
        let digits = rest.iter().skip(minus).take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = match digits {
            0 => (None, rest),
            _ => {
                rest.split_at_checked(minus + digits).map(|(number, rest)| (Some(number), rest))?
            }
        };
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        if name == b"bin" {
            // Skips this number of binary bytes.
            let skipped = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
            self.rest = self.rest.get(skipped..).unwrap_or_default();
        }
        Some(Token::Word { name, number })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            return match first {
                b'{' => Some(Token::Open),
                b'}' => Some(Token::Close),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => continue,
                byte => Some(Token::Byte(*byte)),
            };
        }
    }
}
