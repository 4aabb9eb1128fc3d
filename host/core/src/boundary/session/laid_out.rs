//! The result of a layout query, in the form of the plugin ABI.

use passdock_abi::{LaidOut, Str};

use super::lending::Loans;

/// The result of a layout query. It belongs to the function until the next query. Moving it doesn't move its buffers.
pub(in crate::boundary) struct LaidOutBuffers {
    /// The strings that the other fields point to.
    _texts: Vec<String>,
    operands: Vec<Str>,
    results: Vec<Str>,
    body: Str,
}

impl LaidOutBuffers {
    /// Creates a result. Operands and results are pairs of their count and the layouts by index. Others are empty.
    pub(in crate::boundary) fn new(
        body: String,
        operands: (usize, Vec<(u32, String)>),
        results: (usize, Vec<(u32, String)>),
    ) -> LaidOutBuffers {
        let mut texts = vec![body];
        let body = Str::new(&texts[0]);
        let mut dense = |(count, layouts): (usize, Vec<(u32, String)>)| {
            let mut list = vec![Str::EMPTY; count];
            for (index, text) in layouts {
                if let Some(slot) = list.get_mut(index as usize) {
                    *slot = Str::new(&text);
                    texts.push(text);
                }
            }
            list
        };
        let (operands, results) = (dense(operands), dense(results));
        LaidOutBuffers {
            _texts: texts,
            operands,
            results,
            body,
        }
    }

    /// Returns the result for the plugin.
    pub(in crate::boundary) fn shown(&self) -> LaidOut {
        LaidOut {
            operands: self.operands.as_ptr(),
            operand_count: self.operands.len(),
            results: self.results.as_ptr(),
            result_count: self.results.len(),
            body: self.body,
            ..LaidOut::EMPTY
        }
    }

    /// Lends the result to the plugin.
    pub(in crate::boundary) fn lent(&self, loans: &mut Loans) -> LaidOut {
        let mut list = |layouts: &[Str]| {
            // SAFETY: the strings belong to `self`.
            let texts = layouts.iter().map(|&layout| unsafe { loans.text(layout) });
            let texts: Vec<Str> = texts.collect();
            loans.list(&texts).as_ptr()
        };
        let (operands, results) = (list(&self.operands), list(&self.results));
        LaidOut {
            operands,
            results,
            // SAFETY: as above.
            body: unsafe { loans.text(self.body) },
            ..self.shown()
        }
    }
}
