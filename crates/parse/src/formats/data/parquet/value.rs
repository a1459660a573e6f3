//! Writes one stored value as text: numbers with all their digits, dates and times in ISO 8601.

use std::fmt::{Display, Write};

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::data_type::Int96;
use parquet::schema::types::ColumnDescriptor;

/// Longest decimal in bytes, and most digits behind its point: more than any writer has.
const LONGEST_DECIMAL: usize = 64;
const MOST_PLACES: usize = 200;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;
/// The Julian day of 1970-01-01.
const EPOCH: i128 = 2_440_588;

/// A value, and how JSON writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    /// A number or truth value.
    Bare(String),
    /// In quotation marks.
    Text(String),
}

impl Value {
    pub(super) fn truth(value: bool) -> Self {
        Self::Bare(value.to_string())
    }

    /// The shortest digits that read as the same number.
    pub(super) fn real<T: Copy + Display + std::fmt::LowerExp + Into<f64>>(value: T) -> Self {
        let size = value.into().abs();
        if !size.is_finite() {
            return Self::Text(value.to_string());
        }
        let is_plain = size == 0.0 || (1e-7..1e21).contains(&size);
        Self::Bare(if is_plain { value.to_string() } else { format!("{value:e}") })
    }
}

/// What the stored numbers and bytes of a leaf stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers as they are stored; bytes are text where they read as such.
    Plain,
    Unsigned,
    /// With this many digits behind the point.
    Decimal(i32),
    Text,
    Date,
    Time(Unit),
    Timestamp {
        unit: Unit,
        is_utc: bool,
    },
    Float16,
    Uuid,
    Interval,
    /// Bytes that are no text.
    Binary,
}

/// Nanoseconds of a unit of time.
type Unit = i64;

const MILLI: Unit = 1_000_000;
const MICRO: Unit = 1_000;

impl Kind {
    pub(super) fn of(leaf: &ColumnDescriptor) -> Self {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => MILLI,
            TimeUnit::MICROS => MICRO,
            TimeUnit::NANOS => 1,
        };
        match leaf.logical_type_ref() {
            Some(LogicalType::Decimal(decimal)) => return Self::Decimal(decimal.scale),
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Time(time)) => return Self::Time(unit(&time.unit)),
            Some(LogicalType::Timestamp(time)) => {
                let is_utc = time.is_adjusted_to_u_t_c;
                return Self::Timestamp { unit: unit(&time.unit), is_utc };
            }
            Some(LogicalType::Integer(integer)) if !integer.is_signed => return Self::Unsigned,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => return Self::Text,
            Some(LogicalType::Uuid) => return Self::Uuid,
            Some(LogicalType::Float16) => return Self::Float16,
            Some(
                LogicalType::Bson
                | LogicalType::Variant(_)
                | LogicalType::Geometry(_)
                | LogicalType::Geography(_),
            ) => return Self::Binary,
            _ => {}
        }
        // Older files have this alone.
        match leaf.converted_type() {
            ConvertedType::DECIMAL => Self::Decimal(leaf.type_scale()),
            ConvertedType::DATE => Self::Date,
            ConvertedType::TIME_MILLIS => Self::Time(MILLI),
            ConvertedType::TIME_MICROS => Self::Time(MICRO),
            ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp { unit: MILLI, is_utc: true },
            ConvertedType::TIMESTAMP_MICROS => Self::Timestamp { unit: MICRO, is_utc: true },
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Self::Text,
            ConvertedType::BSON => Self::Binary,
            ConvertedType::INTERVAL => Self::Interval,
            _ => Self::Plain,
        }
    }

    /// `None` if the value has no form as text; so in the functions below.
    pub(super) fn int32(self, value: i32) -> Option<Value> {
        match self {
            Self::Unsigned => Some(Value::Bare(value.cast_unsigned().to_string())),
            Self::Decimal(scale) => decimal(&value.to_be_bytes(), scale),
            _ => self.int64(value.into()),
        }
    }

    pub(super) fn int64(self, value: i64) -> Option<Value> {
        match self {
            Self::Unsigned => Some(Value::Bare(value.cast_unsigned().to_string())),
            Self::Decimal(scale) => decimal(&value.to_be_bytes(), scale),
            Self::Date => {
                let day = Date::constant(1970, 1, 1).checked_add(Span::new().try_days(value).ok()?);
                Some(Value::Text(day.ok()?.to_string()))
            }
            Self::Time(unit) => {
                let nanos = value.checked_mul(unit)?;
                let time = Span::new().try_nanoseconds(nanos).ok()?;
                Some(Value::Text(Time::midnight().checked_add(time).ok()?.to_string()))
            }
            Self::Timestamp { unit, is_utc } => {
                timestamp(i128::from(value) * i128::from(unit), is_utc)
            }
            _ => Some(Value::Bare(value.to_string())),
        }
    }

    /// Nanoseconds of a day, and the day.
    pub(super) fn int96(value: &Int96) -> Option<Value> {
        let [low, high, day] = value.data() else { return None };
        let nanos = i128::from(*high) << 32 | i128::from(*low);
        let day = i128::from(day.cast_signed()) - EPOCH;
        timestamp(day * NANOS_OF_DAY + nanos, false)
    }

    pub(super) fn bytes(self, bytes: &[u8]) -> Option<Value> {
        match (self, bytes) {
            (Self::Decimal(scale), _) => decimal(bytes, scale),
            (Self::Float16, [low, high]) => {
                Some(Value::real(float16(u16::from_le_bytes([*low, *high]))))
            }
            (Self::Uuid, _) => uuid(bytes),
            (Self::Interval, _) => interval(bytes),
            (Self::Text, _) => Some(Value::Text(str::from_utf8(bytes).ok()?.to_owned())),
            // Older programs write texts without saying so.
            (Self::Plain, _) => {
                let text = str::from_utf8(bytes).ok()?;
                let is_text = !text.contains(|c: char| c.is_control() && !c.is_whitespace());
                is_text.then(|| Value::Text(text.to_owned()))
            }
            _ => None,
        }
    }
}

/// Nanoseconds since 1970 as a date, with its time unless that is midnight of no zone.
fn timestamp(nanos: i128, is_utc: bool) -> Option<Value> {
    let moment = Timestamp::from_nanosecond(nanos).ok()?;
    if is_utc {
        return Some(Value::Text(moment.to_string()));
    }
    let local = Offset::UTC.to_datetime(moment);
    let is_day = local.time() == Time::midnight();
    Some(Value::Text(if is_day { local.date().to_string() } else { local.to_string() }))
}

/// A big-endian number in two's complement, of any length.
fn decimal(bytes: &[u8], scale: i32) -> Option<Value> {
    const LIMB: u64 = 1_000_000_000;
    let places = usize::try_from(scale).ok()?;
    let is_negative = bytes.first()? & 0x80 != 0;
    if LONGEST_DECIMAL < bytes.len() || MOST_PLACES < places {
        return None;
    }
    // The lowest first, nine digits each.
    let mut limbs: Vec<u64> = Vec::new();
    for byte in bytes {
        let mut carry = u64::from(if is_negative { !byte } else { *byte });
        for limb in &mut limbs {
            let sum = *limb * 256 + carry;
            (*limb, carry) = (sum % LIMB, sum / LIMB);
        }
        limbs.push(carry);
    }
    if is_negative {
        let mut carry = 1;
        for limb in &mut limbs {
            let sum = *limb + carry;
            (*limb, carry) = (sum % LIMB, sum / LIMB);
        }
    }
    let mut digits = String::new();
    for limb in limbs.iter().rev() {
        write!(digits, "{limb:09}").ok()?;
    }
    let whole = digits.trim_start_matches('0');
    let digits = format!("{whole:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at_checked(digits.len() - places)?;
    let sign = if is_negative { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(Value::Bare(format!("{sign}{whole}{point}{fraction}")))
}

/// A half-precision number: a sign, five bits of exponent, ten of fraction.
fn float16(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let size = match bits >> 10 & 0x1f {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

fn uuid(bytes: &[u8]) -> Option<Value> {
    let number = u128::from_be_bytes(bytes.try_into().ok()?);
    let hex = format!("{number:032x}");
    let mut text = String::new();
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    Some(Value::Text(text))
}

/// Months, days and milliseconds, each of which may be more than one of the next.
fn interval(bytes: &[u8]) -> Option<Value> {
    let (months, rest) = bytes.split_first_chunk()?;
    let (days, rest) = rest.split_first_chunk()?;
    let [months, days, millis] = [*months, *days, rest.try_into().ok()?].map(u32::from_le_bytes);
    let (seconds, millis) = (millis / 1000, millis % 1000);
    Some(Value::Text(format!("P{months}M{days}DT{seconds}.{millis:03}S")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: Option<Value>) -> String {
        match value {
            Some(Value::Bare(text)) => text,
            Some(Value::Text(text)) => format!("{text:?}"),
            Some(Value::Null) => "null".to_owned(),
            None => "unread".to_owned(),
        }
    }

    #[test]
    fn decimals_keep_their_digits() {
        let seen = [
            decimal(&[0], 0),
            decimal(&[0], 2),
            decimal(&[0x80], 0),
            decimal(&[0xff; 16], 38),
            decimal(&[0x7f, 0xff, 0xff, 0xff], 0),
            decimal(&i64::MIN.to_be_bytes(), 3),
            decimal(&[], 0),
            decimal(&[1; 65], 0),
            decimal(&[1], i32::MAX),
            decimal(&[1], -1),
        ];
        insta::assert_snapshot!(seen.map(shown).join("\n"), @"
        0
        0.00
        -128
        -0.00000000000000000000000000000000000001
        2147483647
        -9223372036854775.808
        unread
        unread
        unread
        unread
        ");
        let largest = decimal(&[0xff; 64], 0).map(|value| shown(Some(value)));
        assert_eq!(largest.as_deref(), Some("-1"));
    }

    #[test]
    fn halves_are_read() {
        let seen = [0, 0x8000, 1, 0x3c00, 0xc000, 0x7bff, 0x7c00, 0xfe00].map(float16);
        insta::assert_snapshot!(seen.map(|value| value.to_string()).join(" "), @"0 -0 0.000000059604645 1 -2 65504 inf NaN");
    }

    #[test]
    fn times_out_of_all_calendars_are_unread() {
        let nano = Kind::Timestamp { unit: 1, is_utc: false };
        let milli = Kind::Timestamp { unit: MILLI, is_utc: true };
        let seen = [
            nano.int64(i64::MIN),
            nano.int64(-1),
            milli.int64(0),
            milli.int64(i64::MAX),
            Kind::Date.int64(i64::MAX),
            Kind::Date.int32(i32::MIN),
            Kind::Date.int32(-719_528),
            Kind::Time(MILLI).int32(86_399_999),
            Kind::Time(MILLI).int32(86_400_000),
            Kind::Time(MICRO).int64(-1),
            Kind::Time(MICRO).int64(i64::MAX),
        ];
        insta::assert_snapshot!(seen.map(shown).join("\n"), @r#"
        "1677-09-21T00:12:43.145224192"
        "1969-12-31T23:59:59.999999999"
        "1970-01-01T00:00:00Z"
        unread
        unread
        unread
        "0000-01-01"
        "23:59:59.999"
        unread
        unread
        unread
        "#);
    }

    #[test]
    fn numbers_that_are_no_json_are_text() {
        let seen = [
            Value::real(f64::NAN),
            Value::real(f32::INFINITY),
            Value::real(1e300),
            Value::real(0.1_f32),
        ];
        insta::assert_snapshot!(seen.map(|value| shown(Some(value))).join(" "), @r#""NaN" "inf" 1e300 0.1"#);
    }

    #[test]
    fn bytes_of_fixed_length_are_read_or_not() {
        let seen = [
            Kind::Interval.bytes(&[14, 0, 0, 0, 3, 0, 0, 0, 0xdc, 5, 0, 0]),
            Kind::Interval.bytes(&[1, 2]),
            Kind::Uuid.bytes(&[0xab; 16]),
            Kind::Uuid.bytes(&[0xab; 15]),
            Kind::Float16.bytes(&[0]),
            Kind::Binary.bytes(b"text"),
            Kind::Plain.bytes(b"\x01"),
            Kind::Text.bytes(b"\xff"),
        ];
        insta::assert_snapshot!(seen.map(shown).join("\n"), @r#"
        "P14M3DT1.500S"
        unread
        "abababab-abab-abab-abab-abababababab"
        unread
        unread
        unread
        unread
        unread
        "#);
    }
}
