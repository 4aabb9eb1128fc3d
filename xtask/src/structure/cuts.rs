//! Which edges of a circle to cut: few and light ones, without which there is no circle.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Graph;

impl<'s> Graph<'s> {
    /// A small set of edges of a circle without which there is none. The least can't be found in
    /// reasonable time: nodes are put in a row so that little leads back, and that is cut.
    pub(crate) fn cuts(&self, circle: &BTreeSet<&'s str>) -> Vec<(&'s str, &'s str)> {
        let nodes: Vec<&str> = circle.iter().copied().collect();
        let weights: Vec<Vec<usize>> = nodes
            .iter()
            .map(|from| nodes.iter().map(|to| self.arrows(from, to).len()).collect())
            .collect();
        let row = row(&weights);
        let mut back = Vec::new();
        for (at, to) in row.iter().enumerate() {
            for from in &row[at + 1..] {
                if weights[*from][*to] > 0 {
                    back.push((weights[*from][*to], nodes[*from], nodes[*to]));
                }
            }
        }
        back.sort_by_key(|cut| Reverse(cut.0));
        back.into_iter().map(|(_, from, to)| (from, to)).collect()
    }
}

/// Nodes in a row so that the weight of what leads back is small: moving one makes it no smaller.
fn row(weights: &[Vec<usize>]) -> Vec<usize> {
    let sum = |from: &[usize], to: &[usize]| -> usize {
        from.iter()
            .map(|from| to.iter().map(|to| weights[*from][*to]).sum::<usize>())
            .sum()
    };
    let all: Vec<usize> = (0..weights.len()).collect();
    let mut row = all.clone();
    // Users first.
    row.sort_by_key(|node| sum(&all, &[*node]) as isize - sum(&[*node], &all) as isize);
    let mut is_better = true;
    while is_better {
        is_better = false;
        for node in &all {
            let others: Vec<usize> = row.iter().filter(|other| *other != node).copied().collect();
            // What leads back if the node stands at a place: from it to those before, and to it
            // from those after.
            let back = |at: usize| sum(&[*node], &others[..at]) + sum(&others[at..], &[*node]);
            let now = row.iter().position(|other| other == node).map_or(0, back);
            if let Some(best) = (0..row.len()).min_by_key(|at| back(*at))
                && back(best) < now
            {
                row = others;
                row.insert(best, *node);
                is_better = true;
            }
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::Graph;

    fn cuts(edges: &'static [&'static str]) -> Vec<(&'static str, &'static str)> {
        let graph = Graph::of_text(edges);
        graph.cuts(&graph.circles()[0])
    }

    #[test]
    fn what_is_cut_opens_all_circles_and_is_light() {
        assert_eq!(cuts(&["a b", "b a", "b a"]), [("a", "b")]);
        assert_eq!(
            cuts(&["a b", "a b", "b c", "b c", "b c", "c a", "c b"]),
            [("c", "a"), ("c", "b")]
        );
        // Whose arrows are many and whose are few doesn't say who stands above.
        assert_eq!(
            cuts(&[
                "a d", "a d", "b d", "b d", "d c", "d c", "d c", "d c", "c a", "c b", "c b", "b a"
            ]),
            [("c", "b"), ("c", "a")]
        );
    }
}
