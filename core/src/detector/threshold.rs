//! The threshold that a detector learns: a quantile of the scores of its own rows.
//!
//! Asked is one false alarm in `N` rows.
//!
//! # First
//!
//! The 16 largest of `16 N` scores are kept, and the least of them is the threshold. It is an order
//! statistic, so that no assumption on the law of the scores is made: of `n` rows and one more in random
//! order, that one exceeds the `k`-th largest of the `n` with probability `k/(n + 1)`. The rate of one device
//! is distributed as Beta(16, 16N - 15), of mean `1/N` and a standard deviation of a quarter of it: within
//! half and twice of what was asked on 99 devices of 100. With fewer rows it would not be, so there is no
//! alarm before.
//!
//! # Afterwards
//!
//! The threshold follows the rows (Robbins and Monro 1951, for the quantile): an alarm raises it by a step,
//! and each row lowers it by `1/N` of a step. The sum of these is the difference of the threshold between any
//! two times, so that after `n` rows
//!
//! `|alarms - n/N| ≤ |difference of the threshold|/step`
//!
//! whatever the rows are, also while they drift (Gibbs and Candès 2021, *Adaptive conformal inference under
//! distribution shift*). The step is 1/16 of the tail's scale `β`, by which the logarithm of the rate falls
//! where the threshold rises by β: the median excess of the 15 largest scores over the threshold, divided by
//! `ln 2`, as of exponential excesses. The median, because one spike must not decide it. The rate of the
//! moment then varies by some 18 % (standard deviation), and the memory is `16 N` rows.
//!
//! # A fault that lasts
//!
//! It must not become the rule soon. An alarm raises the threshold only if it has credit: 16 alarms at first,
//! and 4 in `N` rows on average. So the first 16 alarms raise it by `β`, and all that follow by `3/16 β` in
//! `N` rows: a fault that scores `h β` above the threshold alarms for at least `5 (h - 1) N` rows. A drift of
//! the scores that is faster than `3/16 β` in `N` rows is not followed either, and alarms.

use crate::error::Known;
use crate::scalar::Scalar;

/// The largest scores that are kept, and the alarms that have credit.
pub(super) const TAIL: usize = 16;
/// The steps in a tail's scale.
const STEPS: usize = 16;
/// Alarms in `N` rows, of those that raise the threshold.
const CREDIT: usize = 4;

/// What a score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The threshold is being learned, from so many rows more.
    Learning(u64),
    Known,
    Alarm,
}

/// The threshold, its scores and its counters. Zeros before it is started.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Threshold<T> {
    /// The largest scores, descending.
    pub(super) tail: [T; TAIL],
    /// The threshold after the last alarm.
    pub(super) level: T,
    /// What an alarm raises it by.
    pub(super) step: T,
    /// Alarms that may still raise it, after the last alarm.
    pub(super) credit: T,
    /// `N`.
    pub(super) every: u32,
    /// Scores taken, those that the threshold was learned from included.
    pub(super) rows: u64,
    pub(super) alarms: u64,
    /// Scores since the last alarm, and that of the alarm.
    pub(super) since: u64,
}

impl<T: Scalar> Threshold<T> {
    /// That of one alarm in `every` rows, of which nothing is learned.
    pub(super) const fn new(every: u32) -> Self {
        Self {
            tail: [T::ZERO; TAIL],
            level: T::ZERO,
            step: T::ZERO,
            credit: T::ZERO,
            every,
            rows: 0,
            alarms: 0,
            since: 0,
        }
    }

    /// Return the rows that it is learned from, which are those that it remembers afterwards.
    pub(super) fn memory(&self) -> u64 {
        TAIL as u64 * u64::from(self.every)
    }

    /// Return the rows judged.
    pub(super) fn judged(&self) -> u64 {
        self.rows.saturating_sub(self.memory())
    }

    pub(super) fn is_learned(&self) -> bool {
        self.every > 0 && self.rows >= self.memory()
    }

    /// Return the present threshold. It is computed from the last alarm: to subtract `1/N` of a step a row
    /// would be lost to rounding.
    pub(super) fn present(&self) -> T {
        let level = self.level - self.step * self.alarms_expected();
        if level > T::ZERO { level } else { T::ZERO }
    }

    /// Return the alarms asked for since the last one.
    fn alarms_expected(&self) -> T {
        T::from_rows(self.since) / T::from_rows(u64::from(self.every))
    }

    /// Take the score of the next row.
    pub(super) fn take(&mut self, score: T) -> Judgement {
        let learned = self.is_learned();
        self.rows = self.rows.saturating_add(1);
        if !learned {
            self.keep(score);
            let missing = self.memory().saturating_sub(self.rows);
            if missing == 0 {
                self.fix();
            }
            return Judgement::Learning(missing);
        }
        let present = self.present();
        if !(score > present) {
            self.since = self.since.saturating_add(1);
            return Judgement::Known;
        }
        self.alarms = self.alarms.saturating_add(1);
        let credit = self.credit + T::from_count(CREDIT) * self.alarms_expected();
        let most = T::from_count(TAIL);
        self.credit = if credit < most { credit } else { most };
        self.level = present;
        if self.credit >= T::ONE {
            self.credit -= T::ONE;
            self.level += self.step;
        }
        self.since = 1;
        Judgement::Alarm
    }

    /// Insert a score among the largest.
    fn keep(&mut self, score: T) {
        let mut carried = score;
        for slot in &mut self.tail {
            if carried > *slot {
                core::mem::swap(&mut carried, slot);
            }
        }
    }

    /// The scores are complete.
    fn fix(&mut self) {
        let [.., least] = self.tail;
        let median = self.tail.get(TAIL / 2 - 1).copied().known().unwrap_or(least);
        let scale = (median - least) / T::from_f64(core::f64::consts::LN_2);
        // Equal scores, such as those of rows that repeat themselves, say nothing of a scale.
        let floor = least / T::from_count(256) + T::from_count(TAIL) * T::EPSILON;
        self.level = least;
        self.step = if scale > floor { scale } else { floor } / T::from_count(STEPS);
        self.credit = T::from_count(TAIL);
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Judgement, Threshold};
    use crate::random::Random;
    use rand_core::Rng;

    /// A permutation of 0 to 1,599.
    fn shuffled(at: u32) -> f64 {
        f64::from(at * 7 % 1_600)
    }

    fn learned() -> Threshold<f64> {
        let mut threshold = Threshold::new(100);
        for at in 0..1_600 {
            assert!(!threshold.is_learned());
            assert_eq!(threshold.take(shuffled(at)), Judgement::Learning(u64::from(1_599 - at)));
        }
        threshold
    }

    #[test]
    fn it_is_the_sixteenth_largest_score() {
        let threshold = learned();
        assert!(threshold.is_learned() && threshold.judged() == 0);
        assert_eq!(threshold.present(), 1_584.0);
        // The median of 1,585 to 1,599 is 8 above.
        assert!((threshold.step - 8.0 / core::f64::consts::LN_2 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn an_alarm_raises_it_and_a_hundred_rows_lower_it_again() {
        let mut threshold = learned();
        assert_eq!(threshold.take(1_584.0), Judgement::Known);
        assert_eq!(threshold.take(1_584.0), Judgement::Alarm); // it is lower now
        let step = threshold.step;
        assert!((threshold.present() - (1_584.0 + step * 0.98)).abs() < 1e-9);
        (0..98).for_each(|_| assert_eq!(threshold.take(0.0), Judgement::Known));
        assert!((threshold.present() - 1_584.0).abs() < 1e-9);
        assert_eq!((threshold.judged(), threshold.alarms), (100, 1));
    }

    #[test]
    fn a_fault_that_lasts_raises_it_slowly() {
        let mut threshold = learned();
        (0..16).for_each(|_| assert_eq!(threshold.take(1e6), Judgement::Alarm));
        let scale = 16.0 * threshold.step;
        assert!((threshold.present() - 1_584.0 - scale).abs() < 0.02 * scale);
        // From then on by three steps in a hundred rows.
        (0..1_600).for_each(|_| assert_eq!(threshold.take(1e6), Judgement::Alarm));
        let raised = threshold.present() - 1_584.0 - scale;
        assert!((raised - 3.0 * scale).abs() < 0.1 * scale, "{raised} {scale}");
        assert_eq!(threshold.alarms, 1_616);
    }

    /// The alarms of any rows are those asked for, up to the steps that the threshold has moved.
    fn follows<T: crate::scalar::Scalar>() {
        let (mut threshold, mut random) = (Threshold::<T>::new(50), Random::seeded(1));
        for at in 0..200_800_u32 {
            let uniform = (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0;
            // Exponential excesses whose scale and place drift.
            let drift = f64::from(at) / 200_800.0;
            threshold.take(T::from_f64(3.0 * drift - (1.0 + drift) * uniform.ln()));
        }
        let rate = threshold.alarms as f64 / threshold.judged() as f64;
        assert!((rate * 50.0 - 1.0).abs() < 0.05, "{rate}");
    }

    #[test]
    fn the_rate_is_kept_while_scores_drift() {
        follows::<f32>();
        follows::<f64>();
    }

    #[test]
    fn equal_scores_do_not_alarm() {
        let mut threshold = Threshold::<f32>::new(2);
        (0..32).for_each(|_| assert!(matches!(threshold.take(0.25), Judgement::Learning(_))));
        assert!(threshold.step > 0.0 && threshold.present() == 0.25);
        assert_eq!(threshold.take(0.25), Judgement::Known);
    }
}
