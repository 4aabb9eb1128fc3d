//! What a definition answered about layouts, as it is handed out.

use passdock_abi::{LaidOut, Str};

/// An answer, which stays with the function until the next one. Moving it leaves what it points to where it is.
pub(in crate::boundary) struct LaidOutBuffers {
    /// The texts that the others point to.
    _texts: Vec<String>,
    operands: Vec<Str>,
    results: Vec<Str>,
    body: Str,
}

impl LaidOutBuffers {
    /// An answer about an op with so many operands and results; what isn't said of one of them is empty.
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

    /// The answer as plugins read it.
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
}
