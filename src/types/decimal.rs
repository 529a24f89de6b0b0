//! Decimal numbers as Cedar has them, with four places: ten-thousandths, and the text that says them.

use serde_json::Value;

/// A decimal number has four places, as Cedar's.
const SCALE: i64 = 10_000;
/// The largest one.
const MOST: &str = "922337203685477.5807";

/// A decimal number, in ten-thousandths.
pub fn decimal(value: &Value) -> Result<i64, String> {
    let wrong = || "must be a number with at most four decimal places, such as \"12.50\"".to_owned();
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(wrong()),
    };
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > 4 {
        return Err(wrong());
    }
    let number = format!("{whole}{part:0<4}").parse::<i64>();
    let number = number.map_err(|_| format!("must be between -{MOST} and {MOST}"))?;
    Ok(sign * number)
}

/// A number of ten-thousandths as a text with at least so many places.
pub fn shown_decimal(number: i64, places: usize) -> String {
    let (whole, part) = (number.unsigned_abs() / SCALE.unsigned_abs(), number.unsigned_abs() % SCALE.unsigned_abs());
    let part = format!("{part:04}");
    let kept = part.trim_end_matches('0').len().max(places);
    format!("{}{whole}.{}", if number < 0 { "-" } else { "" }, part.get(..kept).unwrap_or(&part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decimals_have_one_form() {
        for (given, kept) in [
            (json!("12.50"), "12.5"),
            (json!(12), "12.0"),
            (json!("-0.0001"), "-0.0001"),
            (json!("0.10"), "0.1"),
            (json!("922337203685477.5807"), "922337203685477.5807"),
        ] {
            assert_eq!(shown_decimal(decimal(&given).unwrap(), 1), kept);
        }
        for wrong in [json!("1.23456"), json!(""), json!("."), json!("1e3"), json!("922337203685477.5808"), json!("+1")]
        {
            assert!(decimal(&wrong).is_err(), "{wrong}");
        }
    }
}
