//! Every set of `c` of `n` rows.

/// Return the subsets in lexicographic order, each ascending.
pub fn subsets(n: usize, c: usize) -> Vec<Vec<usize>> {
    fn extend(from: usize, n: usize, left: usize, chosen: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if left == 0 {
            all.push(chosen.clone());
            return;
        }
        for next in from..n {
            chosen.push(next);
            extend(next + 1, n, left - 1, chosen, all);
            chosen.pop();
        }
    }
    let mut all = Vec::new();
    extend(0, n, c, &mut Vec::new(), &mut all);
    all
}

/// Return the index of a set among [`subsets`]; its members may be in any order.
///
/// # Panics
/// When it is none of them.
pub fn index_of(subsets: &[Vec<usize>], members: &[usize]) -> usize {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    subsets.binary_search(&sorted).unwrap_or_else(|_| panic!("{members:?} is none of the subsets"))
}

#[cfg(test)]
mod tests {
    use super::{index_of, subsets};

    #[test]
    fn twenty_sets_of_three_of_six() {
        let all = subsets(6, 3);
        assert_eq!((all.len(), &all[0], &all[19]), (20, &vec![0, 1, 2], &vec![3, 4, 5]));
        assert_eq!(index_of(&all, &[5, 3, 4]), 19);
        assert_eq!(subsets(4, 0), [Vec::<usize>::new()]);
    }
}
