//! Depths of regions, and which are around which.

use passdock_abi::{OpId, RegionId};

use crate::function::Function;

impl Function {
    /// The number of regions around a region; the body's is 0.
    pub fn depth(&self, region: RegionId) -> u32 {
        if !self.loose {
            return self.level(region);
        }
        let (mut region, mut depth) = (region, 0);
        while let Some(op) = self.region(region).parent.option() {
            (region, depth) = (self.op(op).parent, depth + 1);
        }
        depth
    }

    /// A number that is larger than that of the region around it.
    pub(crate) fn level(&self, region: RegionId) -> u32 {
        self.levels[region.index()]
    }

    /// The outermost of a region and those around it whose level is larger than that of `outer`, as
    /// its own has to be.
    ///
    /// Each region knows one that is far around it, so that a few jumps lead through thousands of levels
    /// (Myers, "An applicative random-access stack", 1983).
    pub(crate) fn outermost_inside(&self, region: RegionId, outer: RegionId) -> RegionId {
        let mut region = region;
        loop {
            let far = self.far[region.index()];
            let around = self.op(self.region(region).parent).parent;
            region = if !self.loose && self.level(far) > self.level(outer) {
                far
            } else if self.level(around) > self.level(outer) {
                around
            } else {
                return region;
            };
        }
    }

    /// The far region that a region in `around` is given.
    pub(crate) fn far_around(&self, around: RegionId) -> RegionId {
        let far = self.far[around.index()];
        let farther = self.far[far.index()];
        let jump = |from, to| self.level(from) - self.level(to);
        match jump(around, far) == jump(far, farther) {
            true => farther,
            false => around,
        }
    }

    /// Whether [`Function::settle_depths`] has anything to do.
    pub fn has_loose_depths(&self) -> bool {
        self.loose
    }

    /// Makes asking for depths cheap again: [`Function::inline_region`] leaves that for the end of
    /// the pass, since each of many may bring all that is nested one level up.
    pub fn settle_depths(&mut self) {
        if std::mem::take(&mut self.loose) {
            self.measure_depths();
        }
    }

    /// Computes the level of each region, and the region far around it.
    pub(crate) fn measure_depths(&mut self) {
        self.levels[self.body.index()] = 0;
        self.far[self.body.index()] = self.body;
        let ops: Vec<OpId> = self.walk(self.body).collect();
        // Each op comes before what is nested in it.
        for op in ops {
            let around = self.op(op).parent;
            let (level, far) = (self.level(around) + 1, self.far_around(around));
            let regions = self.op(op).regions;
            for at in regions.start..regions.start + regions.len {
                let region = self.ids[at as usize] as usize;
                (self.levels[region], self.far[region]) = (level, far);
            }
        }
    }
}
