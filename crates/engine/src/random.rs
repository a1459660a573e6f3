//! Makes random names and keys.

use pikerag_knowledge::hex;

/// `N` random bytes of the system as 2·`N` hexadecimal digits.
///
/// # Errors
/// The system gives no random bytes.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_gives_other_digits() {
        let (one, other) = (random_hex::<8>().unwrap(), random_hex::<8>().unwrap());
        assert_eq!((one.len(), other.len()), (16, 16));
        assert!(one.chars().all(|c| c.is_ascii_hexdigit()) && one != other, "{one} {other}");
    }
}
