//! The registry of selectors by name, [`METHODS`], and their options.
//!
//! A new selector is a file in this folder, with its `mod` and row of the table here, a line in
//! [`crate::selectors`] and an entry in [`METHODS`]. It is
//! then available by name in `select`, `fit` and `evaluate`, and listed in their help. The package
//! `dpp-nystrom-lab` has a list of further methods, to compare with.
//!
//! | method | selects | kernel evaluations | numbers held | source |
//! | --- | --- | --- | --- | --- |
//! | `auto` | `refined`, `kmeans-snapped`, `rpcholesky` or `uniform`, by budget and spectrum | as the choice | as the choice | |
//! | `kdpp` | rows of a c-DPP, by a Markov chain | c per proposal | c² | Li, Jegelka, Sra 2016, Algorithm 1 |
//! | `kdpp-exact` | rows of a c-DPP, exactly | N², of many rows some 4 N c | 2 N², or 2 N | Kulesza, Taskar 2012, Algorithms 1 and 8; Calandriello, Dereziński, Valko 2020 |
//! | `uniform` | rows drawn uniformly | c²/2 | c² | Williams, Seeger 2001 |
//! | `kmeans++` | seeds of k-means++ | N c distances | N + c² | Arthur, Vassilvitskii 2007 |
//! | `rpcholesky` | randomly pivoted Cholesky | N c | N (c + d) | Chen, Epperly, Tropp, Webber 2022 |
//! | `greedy` | greedily pivoted Cholesky | N c | N (c + d) | Fine, Scheinberg 2001 |
//! | `refined` | rows exchanged while the trace error decreases | N c a sweep | N (c + d) | swap search |
//! | `refined-ridge` | rows exchanged while the leave-one-out error decreases | N c a landmark | N c | swap search |
//! | `kmeans` | k-means centroids: points, not rows | N c distances a round | N + c d | Zhang, Tsang, Kwok 2008 |
//! | `kmeans-snapped` | the rows nearest to the k-means centroids | as `kmeans` | N + c d | Zhang, Tsang, Kwok 2008 |
//! | `given` | given rows | c²/2 | c² | |
//!
//! Methods that store N² numbers return an error above [`crate::approximation::SPECTRUM_ROWS`] rows. The
//! error names a method that accepts more rows.
//!
//! # Drawing
//!
//! A row that depends linearly on those already drawn is skipped. So the result is always c independent rows,
//! or an error. [`Task::draw`](crate::landmarks::Task::draw) draws rows by weight.
//!
//! Weights are computed in `f64`. The precision of the task applies to the chains, the starts and `greedy`.

pub(crate) mod auto;
pub(crate) mod conditioned;
pub(crate) mod draw;
pub(crate) mod exchanged;
pub(crate) mod given;
pub(crate) mod greedy;
pub(crate) mod kdpp;
pub(crate) mod kdpp_exact;
pub(crate) mod kmeans;
pub(crate) mod kmeans_plus_plus;
pub(crate) mod kmeans_snapped;
pub(crate) mod lloyd;
pub(crate) mod refined;
pub(crate) mod refined_ridge;
pub(crate) mod rpcholesky;
pub(crate) mod uniform;

#[cfg(test)]
mod tests;

use crate::landmarks::{
    ChainKind, Refinement, Selector, Start, Steps, methods::auto::Auto, methods::conditioned::Conditioned,
    methods::exchanged::Exchanged, methods::given::Given, methods::greedy::Greedy, methods::kdpp::Kdpp,
    methods::kdpp_exact::KdppExact, methods::kmeans::Kmeans, methods::kmeans_plus_plus::KmeansPlusPlus,
    methods::kmeans_snapped::KmeansSnapped, methods::refined::Refined, methods::refined_ridge::RefinedRidge,
    methods::rpcholesky::RpCholesky, methods::uniform::Uniform,
};
use std::time::Duration;

/// The parameters of all selectors, as set on a command line. Each method uses those in [`Method::options`].
///
/// ```
/// use dpp_nystrom::landmarks::{Selector, methods::{METHODS, SelectorOptions}};
///
/// let rpcholesky = METHODS.iter().find(|method| method.name == "rpcholesky").expect("a method of this name");
/// let options = SelectorOptions { pivot_rows: Some(10_000), ..SelectorOptions::default() };
/// assert_eq!(rpcholesky.selector(&options).name(), "rpcholesky");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectorOptions {
    /// The first landmarks of a chain.
    pub start: Start,
    /// The kind of chain.
    pub chain: ChainKind,
    /// The number of steps of the chain.
    pub steps: Steps,
    /// The number of rows among which pivoted Cholesky pivots.
    pub pivot_rows: Option<usize>,
    /// The options of refinement. With a method that does not use them, they apply to an exchange of its
    /// rows.
    pub refinement: Option<Refinement>,
    /// The budget of `auto`.
    pub budget: Option<Duration>,
    /// The given rows, numbered as in the file.
    pub given: Vec<usize>,
    /// The quality of each row of the file, for any method.
    pub quality: Option<Vec<f64>>,
    /// Rows to include, numbered as in the file, for any method.
    pub include: Vec<usize>,
    /// Rows to exclude, numbered as in the file, for any method.
    pub exclude: Vec<usize>,
}

/// A field of [`SelectorOptions`] that some methods use.
///
/// ```
/// use dpp_nystrom::landmarks::methods::{METHODS, SelectorOption};
///
/// let with_steps = METHODS.iter().filter(|method| method.uses(SelectorOption::Steps));
/// assert!(with_steps.map(|method| method.name).eq(["kdpp"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are documented")]
pub enum SelectorOption {
    Start,
    Chain,
    Steps,
    PivotRows,
    Refinement,
    Budget,
    Given,
}

/// A named selector.
///
/// ```
/// use dpp_nystrom::landmarks::{Selector, methods::{METHODS, Method, SelectorOptions}};
/// use dpp_nystrom::selectors::Uniform;
///
/// static BASELINE: Method = Method::new("baseline", "Rows drawn uniformly", &[], |_| Box::new(Uniform));
/// assert_eq!(BASELINE.selector(&SelectorOptions::default()).name(), "uniform");
/// assert!(METHODS.iter().all(|method| !method.help.is_empty()));
/// ```
#[derive(Debug)]
pub struct Method {
    /// The name.
    pub name: &'static str,
    /// One line for the help.
    pub help: &'static str,
    /// The options that the selector uses.
    pub options: &'static [SelectorOption],
    /// Creates the selector from the options.
    build: fn(&SelectorOptions) -> Box<dyn Selector>,
}

impl Method {
    /// Name a selector. `build` creates it from the options of `options`.
    pub const fn new(
        name: &'static str,
        help: &'static str,
        options: &'static [SelectorOption],
        build: fn(&SelectorOptions) -> Box<dyn Selector>,
    ) -> Self {
        Self { name, help, options, build }
    }

    /// Return whether the method uses this option.
    pub fn uses(&self, option: SelectorOption) -> bool {
        self.options.contains(&option)
    }

    /// Create the selector. If refinement options are set and the method does not use them, the selector
    /// exchanges the rows that the method selects. With a quality, or rows to include or exclude, it is
    /// [`Conditioned`].
    pub fn selector(&self, options: &SelectorOptions) -> Box<dyn Selector> {
        let mut selector = (self.build)(options);
        if let Some(refinement) = options.refinement
            && !self.uses(SelectorOption::Refinement)
        {
            selector = Box::new(Exchanged::new(selector, refinement));
        }
        let SelectorOptions { quality, include, exclude, .. } = options;
        if quality.is_none() && include.is_empty() && exclude.is_empty() {
            return selector;
        }
        let conditioned = Conditioned::new(selector).include(include.clone()).exclude(exclude.clone());
        Box::new(conditioned.quality(quality.clone()))
    }
}

/// The library's methods, in the order of the help.
pub static METHODS: &[Method] = {
    use SelectorOption::{Budget, Chain, PivotRows, Refinement, Start, Steps};
    &[
        Method::new(
            "auto",
            "As refined, from the start and with the sweeps that a budget and the spectrum allow; says which",
            &[Budget, PivotRows, Refinement],
            |options| {
                let auto = Auto::default().pivot_rows(options.pivot_rows);
                let auto = auto.refinement(options.refinement);
                Box::new(auto.budget(options.budget))
            },
        ),
        Method::new("kdpp", "The chain of the c-DPP", &[Steps, Start, Chain], |options| {
            Box::new(Kdpp::default().start(options.start).chain(options.chain).steps(options.steps))
        }),
        Method::new(
            "kdpp-exact",
            "Rows of an exact sample of a c-DPP, from all eigenvectors, or of many rows by rejection",
            &[],
            |_| Box::new(KdppExact),
        ),
        Method::new("uniform", "Rows drawn uniformly", &[], |_| Box::new(Uniform)),
        Method::new("kmeans++", "The seeds of k-means++", &[], |_| Box::new(KmeansPlusPlus)),
        Method::new("rpcholesky", "Randomly pivoted Cholesky", &[PivotRows], |options| {
            Box::new(RpCholesky::default().rows(options.pivot_rows))
        }),
        Method::new("greedy", "Greedily pivoted Cholesky: the largest residual next", &[], |_| {
            Box::new(Greedy)
        }),
        Method::new(
            "refined",
            "Rows of pivoted Cholesky, exchanged one by one as long as the trace error falls",
            &[PivotRows, Refinement],
            |options| {
                let refined = Refined::default().refinement(options.refinement.unwrap_or_default());
                Box::new(refined.pivot_rows(options.pivot_rows))
            },
        ),
        Method::new(
            "refined-ridge",
            "Those of refined, exchanged as long as ridge regression predicts better; needs a target",
            &[PivotRows, Refinement],
            |options| {
                let refined = RefinedRidge::default().refinement(options.refinement.unwrap_or_default());
                Box::new(refined.pivot_rows(options.pivot_rows))
            },
        ),
        Method::new("kmeans", "Centroids of k-means, which are points and no rows", &[], |_| {
            Box::new(Kmeans)
        }),
        Method::new("kmeans-snapped", "The distinct rows nearest to the centroids of k-means", &[], |_| {
            Box::new(KmeansSnapped)
        }),
        Method::new("given", "Given rows", &[SelectorOption::Given], |options| {
            Box::new(Given::new(options.given.clone()))
        }),
    ]
};

/// Return the method of this name.
///
/// ```
/// use dpp_nystrom::landmarks::methods;
///
/// assert!(methods::find("rpcholesky").is_some());
/// assert!(methods::find("magic").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
