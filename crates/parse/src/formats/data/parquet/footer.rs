//! Checks a file's footer before it is read: a few bytes of it can ask for gigabytes, or for more depth than a stack has.
//!
//! The footer is a struct in Thrift's compact protocol. Its second field is the schema: a list of fields, each before
//! those within it, with their number.

use super::MAGIC;

/// Structs and lists within each other. The format has fewer.
const MOST_NESTING: usize = 32;
/// Of the footer's struct, and of a field of the schema.
const SCHEMA: i64 = 2;
const N_CHILDREN: i64 = 5;

/// The reader finds other damage.
pub(super) fn check(bytes: &[u8], max_depth: usize) -> Result<(), &'static str> {
    let Some(footer) = footer(bytes) else {
        return Err("the length that it gives of its footer is wrong");
    };
    let mut schema = Schema { open: Vec::new(), max_depth, fault: None };
    let walked = Walk { rest: footer }.metadata(&mut schema);
    match (schema.fault, walked) {
        (Some(fault), _) => Err(fault),
        (None, Some(())) => Ok(()),
        (None, None) => Err("its footer is damaged"),
    }
}

/// The bytes before the footer's length and the last four.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let (before, length) = bytes.strip_suffix(MAGIC)?.split_last_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let body = before.strip_prefix(MAGIC)?;
    body.get(body.len().checked_sub(length)?..)
}

/// The fields of the schema as they come.
struct Schema {
    /// How many fields are still to come within each of those that are open.
    open: Vec<i64>,
    max_depth: usize,
    fault: Option<&'static str>,
}

impl Schema {
    /// Adds a field; `n_left` fields may be within this and later ones.
    fn add(&mut self, n_children: i64, n_left: &mut i64) {
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        *n_left -= n_children;
        if *n_left < 0 || n_children < 0 {
            self.fault = Some("its schema states more columns than it names");
        }
        if 0 < n_children {
            self.open.push(n_children);
        }
        if self.max_depth < self.open.len() {
            self.fault = Some("its columns are nested too deep");
        }
    }
}

/// How a value is written, by the number of its type. Truth values of a struct are in its type.
const STOP: u8 = 0;
const TRUTHS: [u8; 2] = [1, 2];
const BYTE: u8 = 3;
const NUMBERS: [u8; 3] = [4, 5, 6];
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LISTS: [u8; 2] = [9, 10];
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Bytes that are walked through; `None` where they end too early or are of no known type.
struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    /// The footer's own struct.
    fn metadata(&mut self, schema: &mut Schema) -> Option<()> {
        let mut id = 0;
        loop {
            match (self.field(&mut id)?, id) {
                (STOP, _) => return Some(()),
                (kind, SCHEMA) if LISTS.contains(&kind) => self.schema(schema)?,
                (kind, _) => self.skip(kind, 0)?,
            }
        }
    }

    fn schema(&mut self, schema: &mut Schema) -> Option<()> {
        let (n_fields, kind) = self.list()?;
        if kind != STRUCT {
            return None;
        }
        let mut n_left = i64::try_from(n_fields).ok()?;
        for _ in 0..n_fields {
            let (mut id, mut n_children) = (0, 0);
            loop {
                match (self.field(&mut id)?, id) {
                    (STOP, _) => break,
                    (kind, N_CHILDREN) if NUMBERS.contains(&kind) => n_children = self.signed()?,
                    (kind, _) => self.skip(kind, 0)?,
                }
            }
            schema.add(n_children, &mut n_left);
            if schema.fault.is_some() {
                return None;
            }
        }
        Some(())
    }

    /// The type of the next field, whose number replaces that of the last; `STOP` at the end of the struct.
    fn field(&mut self, id: &mut i64) -> Option<u8> {
        let head = self.byte()?;
        if head == STOP {
            return Some(STOP);
        }
        *id = match head >> 4 {
            0 => self.signed()?,
            step => id.checked_add(step.into())?,
        };
        Some(head & 0xf)
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if MOST_NESTING < depth {
            return None;
        }
        match kind {
            _ if TRUTHS.contains(&kind) => Some(()),
            _ if NUMBERS.contains(&kind) => self.unsigned().map(drop),
            _ if LISTS.contains(&kind) => {
                let (n, kind) = self.list()?;
                (0..n).try_for_each(|_| self.skip_item(kind, depth + 1))
            }
            BYTE => self.pass(1),
            DOUBLE => self.pass(8),
            UUID => self.pass(16),
            BINARY => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            MAP => {
                let n = self.unsigned()?;
                let kinds = if n == 0 { 0 } else { self.byte()? };
                (0..n).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 0xf, depth + 1)
                })
            }
            STRUCT => {
                let mut id = 0;
                loop {
                    match self.field(&mut id)? {
                        STOP => return Some(()),
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            _ => None,
        }
    }

    /// In a list or map, a truth value is a byte.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Option<()> {
        self.skip(if TRUTHS.contains(&kind) { BYTE } else { kind }, depth)
    }

    /// How many items follow, and of which type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let n = match head >> 4 {
            0xf => self.unsigned()?,
            few => few.into(),
        };
        Some((n, head & 0xf))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn pass(&mut self, n: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    /// Seven bits in each byte, the lowest first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Negative numbers are odd.
    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a footer alone.
    fn file(footer: &[u8]) -> Vec<u8> {
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        [MAGIC, footer, &length, MAGIC].concat()
    }

    /// A schema of fields that each contain this many others.
    fn schema(children: &[u8]) -> Vec<u8> {
        // Version 1; the list; of each field the fifth number. A number that is not negative is written doubled.
        let mut footer = vec![0x15, 2, 0x19, 0xfc, u8::try_from(children.len()).unwrap()];
        for n in children {
            footer.extend([0x55, 2 * n, STOP]);
        }
        footer.push(STOP);
        file(&footer)
    }

    #[test]
    fn schemas_that_ask_for_too_much_are_refused() {
        assert_eq!(check(&schema(&[2, 1, 0, 0]), 2), Ok(()));
        assert_eq!(check(&schema(&[2, 1, 0, 0]), 1), Err("its columns are nested too deep"));
        assert_eq!(check(&schema(&[1; 60]), 50), Err("its columns are nested too deep"));
        let too_many = Err("its schema states more columns than it names");
        assert_eq!(check(&schema(&[5, 0]), 9), too_many);
        assert_eq!(check(&schema(&[2, 2, 2]), 9), too_many);
    }

    #[test]
    fn footers_that_end_too_early_are_refused() {
        let whole = schema(&[1, 0]);
        assert_eq!(check(&whole, 9), Ok(()));
        for end in 0..9 {
            let cut = &whole[4..4 + end];
            assert_eq!(check(&file(cut), 9), Err("its footer is damaged"), "{end}");
        }
        let wrong = Err("the length that it gives of its footer is wrong");
        for bytes in
            [&b"PAR1"[..], b"PAR1PAR1", b"PAR1\xff\xff\0\0PAR1", b"PAR1\xff\xff\xff\xffPAR1"]
        {
            assert_eq!(check(bytes, 9), wrong, "{bytes:?}");
        }
    }

    /// Lists within each other, each of one item, the last empty.
    #[test]
    fn depth_is_limited() {
        let lists = |n: usize| file(&[&[0x19; 1][..], &vec![0x19; n], &[0x09, STOP]].concat());
        assert_eq!(check(&lists(10), 9), Ok(()));
        assert_eq!(check(&lists(1000), 9), Err("its footer is damaged"));
    }
}
