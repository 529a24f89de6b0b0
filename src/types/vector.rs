//! Vectors of texts: two that point the same way stand for texts that mean the same, as the model that made both measures it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The most dimensions of a vector.
pub const MOST_DIMENSIONS: usize = 4_096;

/// A direction, in 8 bits a dimension, each of them a part of the largest (scalar quantization): length is of no account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// Creates a vector from values. None if they give no direction: if there are no values or too many, if all are 0,
    /// or if one is not finite.
    pub fn of(values: &[f32]) -> Option<Vector> {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let is_one = !values.is_empty() && values.len() <= MOST_DIMENSIONS;
        let is_one = is_one && largest > 0.0 && values.iter().all(|value| value.is_finite());
        let part = |value: &f32| (value / largest * f32::from(i8::MAX)).round() as i8;
        is_one.then(|| Vector(values.iter().map(part).collect()))
    }

    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The cosine of the angle between two vectors: 1 where they point the same way. 0 where they have not as many dimensions.
    pub fn cosine(&self, other: &Vector) -> f32 {
        if self.dimensions() != other.dimensions() {
            return 0.0;
        }
        let product = |one: &[i8], two: &[i8]| -> i64 {
            one.iter().zip(two).map(|(one, two)| i64::from(i32::from(*one) * i32::from(*two))).sum()
        };
        let length = |of: &[i8]| (product(of, of) as f32).sqrt();
        let lengths = length(&self.0) * length(&other.0);
        if lengths > 0.0 { product(&self.0, &other.0) as f32 / lengths } else { 0.0 }
    }
}

/// Vectors of as many dimensions each, one after the other, in Base64.
pub fn packed(vectors: &[Vector]) -> String {
    let bytes = vectors.iter().flat_map(|vector| &vector.0).map(|part| part.cast_unsigned());
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}

/// What [`packed`] has put together; none where that does not come to whole vectors.
pub fn unpacked(text: &str, dimensions: usize) -> Option<Vec<Vector>> {
    let bytes = STANDARD.decode(text).ok()?;
    if dimensions == 0 || dimensions > MOST_DIMENSIONS || bytes.len() % dimensions != 0 {
        return None;
    }
    let vector = |bytes: &[u8]| Vector(bytes.iter().map(|byte| byte.cast_signed()).collect());
    Some(bytes.chunks(dimensions).map(vector).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_points_the_same_way_is_near_however_long_it_is_and_packing_loses_nothing() {
        let [one, longer, across, against] =
            [[0.02, 0.01, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 5.0], [-0.2, -0.1, 0.0]].map(|of| Vector::of(&of).unwrap());
        assert!(one.cosine(&longer) > 0.999 && one.cosine(&across).abs() < 0.001 && one.cosine(&against) < -0.999);
        let many = [one, longer, across, against];
        assert_eq!(unpacked(&packed(&many), 3).unwrap(), many);
        assert_eq!(unpacked(&packed(&many), 5), None);
    }

    #[test]
    fn what_gives_no_direction_is_no_vector() {
        let long = vec![1.0; MOST_DIMENSIONS + 1];
        for none in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &long] {
            assert_eq!(Vector::of(none), None);
        }
        assert_eq!(Vector::of(&[1.0]).unwrap().cosine(&Vector::of(&[1.0, 1.0]).unwrap()), 0.0);
    }
}
