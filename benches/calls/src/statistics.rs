//! Medians and quartiles of few values.

/// The value below which this part of them lies, linear between two neighbours; 0 if there are none.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    match (sorted.get(below), sorted.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * place.fract(),
        _ => 0.0,
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), 2.5);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (1.0, 4.0));
        assert_eq!(quantile(&values, 0.25), 1.75);
        assert_eq!(median(&[]), 0.0);
    }
}
