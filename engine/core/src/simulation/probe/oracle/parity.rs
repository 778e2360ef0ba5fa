//! The parities of a stripe, one word per strip, and decoding.
//!
//! ```text
//!   P = D0 + D1 + ...          Q = D0 + g D1 + g^2 D2 + ...        in the field of 2^64 elements, + is exclusive or
//! ```
//!
//! H. P. Anvin: The mathematics of RAID-6, 2004 (kernel.org), in a larger field, for any number of strips.

/// Modulo x^64 + x^4 + x^3 + x + 1.
const fn multiply(mut one: u64, mut other: u64) -> u64 {
    let mut product = 0;
    while other != 0 {
        if other & 1 == 1 {
            product ^= one;
        }
        one = (one << 1) ^ (((one >> 63) & 1) * 0x1b);
        other >>= 1;
    }
    product
}

/// The multiplicative inverse, as the power 2^64 - 2.
fn reciprocal(value: u64) -> u64 {
    let (mut power, mut result) = (value, 1);
    for _ in 1..64 {
        power = multiply(power, power);
        result = multiply(result, power);
    }
    result
}

/// P and Q of the data of a stripe.
pub(super) fn parities(data: &[u64]) -> [u64; 2] {
    let p = data.iter().fold(0, |sum, word| sum ^ word);
    // Horner's rule, from the last strip on.
    let q = data.iter().rev().fold(0, |sum, word| multiply(sum, 2) ^ word);
    [p, q]
}

/// The data of a stripe decoded from the strips that are present; `None` if they are too few.
pub(super) fn decode(data: &[Option<u64>], [p, q]: [Option<u64>; 2]) -> Option<Vec<u64>> {
    let missing: Vec<_> = (0..data.len()).filter(|&index| data[index].is_none()).collect();
    let mut all: Vec<_> = data.iter().map(|word| word.unwrap_or(0)).collect();
    let [known_p, known_q] = parities(&all);
    let power = |index: usize| (0..index).fold(1, |power, _| multiply(power, 2));
    match missing[..] {
        [] => {}
        [one] => {
            all[one] = match (p, q) {
                (Some(p), _) => p ^ known_p,
                (None, Some(q)) => multiply(q ^ known_q, reciprocal(power(one))),
                (None, None) => return None,
            };
        }
        [one, other] => {
            // x + y = p', g^i x + g^j y = q'.
            let (p, q) = (p? ^ known_p, q? ^ known_q);
            let (gi, gj) = (power(one), power(other));
            all[one] = multiply(q ^ multiply(gj, p), reciprocal(gi ^ gj));
            all[other] = p ^ all[one];
        }
        _ => return None,
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x9e37_79b9_7f4a_7c15;

    #[test]
    fn the_field_divides() {
        for value in [1, 2, 3, 1 << 63, WORD, u64::MAX] {
            assert_eq!(multiply(value, reciprocal(value)), 1, "{value:x}");
        }
        let mut power = 1;
        for _ in 0..2000 {
            power = multiply(power, 2);
            assert_ne!(power, 1, "the powers of g must differ");
        }
    }

    #[test]
    fn any_two_strips_are_decoded_from_the_others() {
        let data = [5_u64, 0, 77, WORD, 9];
        let [p, q] = parities(&data);
        assert_eq!(p, data.iter().fold(0, |sum, word| sum ^ word));
        for one in 0..7 {
            for other in 0..7 {
                let is_gone = |place: usize| place == one || place == other;
                let there: Vec<_> =
                    data.iter().enumerate().map(|(place, &word)| (!is_gone(place)).then_some(word)).collect();
                let parity = [(!is_gone(5)).then_some(p), (!is_gone(6)).then_some(q)];
                assert_eq!(decode(&there, parity), Some(data.to_vec()), "{one} {other}");
            }
        }
        assert_eq!(decode(&[None, None, None, Some(1), Some(2)], [Some(p), Some(q)]), None);
    }
}
