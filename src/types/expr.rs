//! Figures made of other figures: `open_total / unpaid`. Numbers, names, `+ - * /` and brackets; four decimal places, exact but
//! for what a division leaves over.

/// The most signs of an expression, and how deep it may nest.
const LONGEST: usize = 200;
const DEEPEST: usize = 16;
/// What a whole one is: figures have four decimal places.
const ONE: i128 = 10_000;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Scaled by 10,000.
    Number(i128),
    Name(String),
    Of(Box<Expr>, Sign, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
    Times,
    Over,
}

/// A figure that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFigure {
    /// It is of no records, a part of it is not there, or it is divided by nothing.
    Absent,
    /// No figure holds it: it takes more than 64 bits.
    TooLarge,
}

impl Expr {
    pub fn parse(text: &str) -> Result<Expr, String> {
        if text.len() > LONGEST {
            return Err(format!("must have at most {LONGEST} characters"));
        }
        let mut reading = Reading { tokens: tokens(text)?, at: 0, depth: 0 };
        let read = reading.sum()?;
        match reading.peek() {
            None => Ok(read),
            Some(token) => Err(format!("`{token}` is not expected here")),
        }
    }

    /// The figures that it is made of.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Expr::Number(_) => Vec::new(),
            Expr::Name(name) => vec![name],
            Expr::Of(one, _, other) => one.names().into_iter().chain(other.names()).collect(),
        }
    }

    /// What it comes to, scaled by 10,000 as its parts are.
    pub fn value(&self, of: &dyn Fn(&str) -> Result<i128, NoFigure>) -> Result<i128, NoFigure> {
        match self {
            Expr::Number(number) => Ok(*number),
            Expr::Name(name) => of(name),
            Expr::Of(one, sign, other) => {
                let (one, other) = (one.value(of)?, other.value(of)?);
                let found = match sign {
                    Sign::Plus => one.checked_add(other),
                    Sign::Minus => one.checked_sub(other),
                    Sign::Times => one.checked_mul(other).map(|product| rounded(product, ONE)),
                    Sign::Over if other == 0 => return Err(NoFigure::Absent),
                    Sign::Over => one.checked_mul(ONE).map(|scaled| rounded(scaled, other)),
                };
                found.ok_or(NoFigure::TooLarge)
            }
        }
    }
}

/// Divided, and rounded to the nearest; halves away from nothing.
pub fn rounded(number: i128, by: i128) -> i128 {
    let (whole, rest) = (number / by, number % by);
    let away = if (number < 0) == (by < 0) { 1 } else { -1 };
    if rest.unsigned_abs() * 2 >= by.unsigned_abs() { whole + away } else { whole }
}

fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_open = false;
    for c in text.chars() {
        let is_word = c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
        match (is_word, tokens.last_mut().filter(|_| is_open)) {
            (true, Some(word)) => word.push(c),
            (true, None) => tokens.push(c.to_string()),
            (false, _) if matches!(c, '+' | '-' | '*' | '/' | '(' | ')') => tokens.push(c.to_string()),
            (false, _) if c == ' ' => {}
            (false, _) => return Err(format!("`{}` is no part of it", c.escape_debug())),
        }
        is_open = is_word;
    }
    Ok(tokens)
}

struct Reading {
    tokens: Vec<String>,
    at: usize,
    depth: usize,
}

impl Reading {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut read = self.product()?;
        while let Some(sign) = self.sign(&[("+", Sign::Plus), ("-", Sign::Minus)]) {
            read = Expr::Of(Box::new(read), sign, Box::new(self.product()?));
        }
        Ok(read)
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut read = self.part()?;
        while let Some(sign) = self.sign(&[("*", Sign::Times), ("/", Sign::Over)]) {
            read = Expr::Of(Box::new(read), sign, Box::new(self.part()?));
        }
        Ok(read)
    }

    fn sign(&mut self, signs: &[(&str, Sign)]) -> Option<Sign> {
        let (_, sign) = signs.iter().find(|(text, _)| self.peek() == Some(text))?;
        self.at += 1;
        Some(*sign)
    }

    fn part(&mut self) -> Result<Expr, String> {
        let token = self.next().ok_or("ends too early: a name or a number must follow")?;
        if token == "(" {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(format!("nests deeper than {DEEPEST}"));
            }
            let inner = self.sum()?;
            self.depth -= 1;
            return match self.next().as_deref() {
                Some(")") => Ok(inner),
                _ => Err("a `)` is missing".into()),
            };
        }
        match token.chars().next() {
            Some(c) if c.is_ascii_digit() => number(&token),
            Some(c) if c.is_ascii_lowercase() && !token.contains('.') => Ok(Expr::Name(token)),
            _ => Err(format!("`{token}` is neither a name nor a number")),
        }
    }
}

fn number(text: &str) -> Result<Expr, String> {
    let wrong = || format!("`{text}` is no number with at most four decimal places");
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let plain = |digits: &str| digits.bytes().all(|c| c.is_ascii_digit());
    if whole.len() > 15 || rest.len() > 4 || !plain(whole) || !plain(rest) {
        return Err(wrong());
    }
    format!("{whole}{rest:0<4}").parse().map(Expr::Number).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i128, NoFigure> {
        let of = |name: &str| match name {
            "a" => Ok(10 * ONE),
            "b" => Ok(4 * ONE),
            "c" => Ok(0),
            "large" => Ok(i128::MAX / 2),
            _ => Err(NoFigure::Absent),
        };
        Expr::parse(text).unwrap().value(&of)
    }

    #[test]
    fn what_binds_closer_goes_first_and_the_rest_from_left_to_right() {
        for (text, scaled) in [
            ("a - b - 1", 5 * ONE),
            ("a + b * 2", 18 * ONE),
            ("(a + b) * 2", 28 * ONE),
            ("a / b", 25_000),
            ("b / a / 2", 2_000),
            ("2 / 3", 6_667),
            ("(c - 2) / 3", -6_667),
            ("0.5 * 0.0001", 1),
        ] {
            assert_eq!(value(text), Ok(scaled), "{text}");
        }
        assert_eq!((value("a / c"), value("a + gone")), (Err(NoFigure::Absent), Err(NoFigure::Absent)));
        assert_eq!(value("large * large"), Err(NoFigure::TooLarge));
    }

    #[test]
    fn what_is_no_expression_is_told() {
        let deep = format!("{}a{}", "(".repeat(20), ")".repeat(20));
        for (text, why) in [
            ("", "ends too early"),
            ("a +", "ends too early"),
            ("a b", "`b` is not expected here"),
            ("(a", "a `)` is missing"),
            ("a; b", "`;` is no part of it"),
            ("1.23456", "is no number"),
            ("a.b", "is neither a name nor a number"),
            ("-a", "`-` is neither a name nor a number"),
            (&deep, "nests deeper"),
            (&"a+".repeat(200), "at most 200 characters"),
        ] {
            let message = Expr::parse(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
