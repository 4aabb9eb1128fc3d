//! Layouts: parsing, errors, and conversions, which must agree with the positions.

use passdock_plugin_api::op::{Layout, LayoutStep};

fn layout(text: &str) -> Layout {
    Layout::parse(text).expect("a layout")
}

#[test]
fn layouts_round_trip_through_text() {
    for text in [
        "NCHW->NHWC",
        "NCHW->NCHW4c",
        "OIHW->OIHW16i16o",
        "OIHW->HWIO",
        "OIHW->OHWI4i2i",
        "NCDHW->NDHWC",
        "NC->CN",
        "C->C8c",
        "->",
    ] {
        assert_eq!(layout(text).to_string(), text);
    }
}

#[test]
fn invalid_layouts_are_rejected() {
    for (text, message) in [
        ("NHWC", "invalid layout `NHWC`: missing source; expected a form such as `NCHW->NHWC`"),
        ("NCHW->NHW", "invalid layout `NCHW->NHW`: missing axis `C`"),
        ("NCHW->NHWCC", "invalid layout `NCHW->NHWCC`: duplicate axis `C`"),
        ("NCCW->NCW", "invalid layout `NCCW->NCW`: duplicate axis `C`"),
        ("NcHW->NHW", "invalid layout `NcHW->NHW`: invalid axis `c`: expected a capital letter"),
        ("NCHW->NDHW", "invalid layout `NCHW->NDHW`: unknown axis `D`; the axes are `NCHW`"),
        ("NCHW->NCHWc", "invalid layout `NCHW->NCHWc`: missing size of block `c`; expected a form such as `4c`"),
        ("NCHW->NCHW0c", "invalid layout `NCHW->NCHW0c`: invalid size of the block of axis `C`"),
        (
            "NCHW->NCHW99999999999999999999999c",
            "invalid layout `NCHW->NCHW99999999999999999999999c`: invalid size of the block of axis `C`",
        ),
        ("NCHW->NCHW4", "invalid layout `NCHW->NCHW4`: unexpected number at the end"),
        (
            "NCHW->N4CHW",
            "invalid layout `NCHW->N4CHW`: unexpected number before axis `C`; a block has a small letter",
        ),
        ("NCHW->N HWC", "invalid layout `NCHW->N HWC`: expected an axis or a block, found ` `"),
        ("NCHW->NHW4c", "invalid layout `NCHW->NHW4c`: missing axis `C`"),
    ] {
        let error = Layout::parse(text).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(
        Layout::parse_of("NHWC", "NCW")
            .expect_err("three axes")
            .to_string(),
        "invalid layout `NHWC`: unknown axis `H`; the axes are `NCW`"
    );
    assert_eq!(
        Layout::parse_of("NCHW->NHWC", "NCW")
            .expect_err("three axes")
            .to_string(),
        "invalid layout `NCHW->NHWC`: expected 3 axes (`NCW`), found 4"
    );
    assert!(Layout::check("NCHW4c").is_ok() && Layout::check("NCHWc").is_err());
}

#[test]
fn axis_letters_are_interchangeable() {
    assert_eq!(layout("NCHW->NHWC"), layout("ABCD->ACDB"));
    assert_ne!(layout("NCHW->NHWC"), layout("NCHW->NCHW"));
    assert_eq!(Layout::parse_of("NHWC", "NCHW"), Ok(layout("NCHW->NHWC")));
}

#[test]
fn layouts_compose_and_invert() {
    let nhwc = layout("NCHW->NHWC");
    let back = nhwc.inverse().expect("no blocks");
    assert_eq!(back, layout("NHWC->NCHW"));
    assert!(nhwc.then(&back).expect("as many axes").is_identity());
    assert_eq!(
        nhwc.then(&layout("NHWC->NHWC4c")),
        Some(layout("NCHW->NHWC4c"))
    );
    assert_eq!(
        layout("NCHW->NCHW4c").then(&layout("ABCDE->AEDCB")),
        Some(layout("NCHW->N4cWHC"))
    );
    let twice = layout("NCHW->NCHW4c").then(&layout("ABCDE->ABCDE2b"));
    assert_eq!(twice, None);
    assert_eq!(layout("NC->NC4c2c").then(&layout("ABCD->ABDC")), None);
    assert_eq!(layout("NCHW->NCHW4c").inverse(), None);
    assert_eq!(nhwc.then(&layout("NC->CN")), None);
}

#[test]
fn axes_are_added_and_removed() {
    let nhwc = layout("NCHW->NHWC");
    assert_eq!(nhwc.without(&[2, 3]).to_string(), "NC->NC");
    assert_eq!(nhwc.without(&[0]).to_string(), "CHW->HWC");
    assert_eq!(
        layout("NCHW->NCHW4c").without(&[0]).to_string(),
        "CHW->CHW4c"
    );
    assert_eq!(
        nhwc.with_axis(2).expect("a letter").to_string(),
        "NCAHW->NAHWC"
    );
    assert_eq!(
        nhwc.with_axis(4).expect("a letter").to_string(),
        "NCHWA->NHWAC"
    );
    assert_eq!(
        nhwc.with_axis(0).expect("a letter").to_string(),
        "ANCHW->ANHWC"
    );
    assert_eq!(nhwc.last(&[1]), Some(1));
    assert_eq!(nhwc.last(&[1, 2, 3]), Some(3));
    assert_eq!(nhwc.last(&[2, 3]), None);
    assert_eq!(layout("NCHW->NCHW4c").last(&[1]), None);
    assert_eq!(layout("NCHW->NCHW4c").last(&[1, 2, 3]), Some(4));
    assert_eq!(layout("OIHW->OIHW16i16o").positions_of(0), [0, 5]);
}

/// A tensor whose elements record their original indices.
struct Tensor {
    shape: Vec<i64>,
    elements: Vec<i64>,
}

fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at] * shape[at];
    }
    strides
}

impl Tensor {
    fn numbered(shape: &[i64]) -> Tensor {
        Tensor {
            shape: shape.to_vec(),
            elements: (0..shape.iter().product()).collect(),
        }
    }

    fn step(self, step: &LayoutStep) -> Tensor {
        match step {
            LayoutStep::Reshape(sizes) => {
                let copied = sizes.iter().enumerate().map(|(at, size)| match size {
                    0 => self.shape[at],
                    size => *size,
                });
                let shape: Vec<i64> = copied.collect();
                assert_eq!(shape.iter().product::<i64>(), self.elements.len() as i64);
                Tensor { shape, ..self }
            }
            LayoutStep::Transpose(perm) => {
                let shape: Vec<i64> = perm.iter().map(|axis| self.shape[*axis]).collect();
                let (old, new) = (strides(&self.shape), strides(&shape));
                let count = self.elements.len() as i64;
                let from = |index: i64| -> i64 {
                    let axes = perm.iter().enumerate();
                    axes.map(|(at, axis)| index / new[at] % shape[at] * old[*axis])
                        .sum()
                };
                let elements = (0..count).map(|index| self.elements[from(index) as usize]);
                Tensor {
                    elements: elements.collect(),
                    shape,
                }
            }
            other => panic!("{:?}", other),
        }
    }
}

#[test]
fn steps_and_inverse_steps_match_positions() {
    for (text, sizes) in [
        ("NCHW->NHWC", &[2, 8, 3, 5][..]),
        ("NCHW->NCHW", &[2, 8, 3, 5]),
        ("NCHW->NCHW4c", &[2, 8, 3, 5]),
        ("NCHW->NC4cHW", &[2, 8, 3, 5]),
        ("NCHW->NHWC4c2c", &[2, 16, 3, 5]),
        ("OIHW->OIHW4i2o", &[6, 8, 3, 5]),
        ("OIHW->HWOI2o4i", &[6, 8, 3, 5]),
        ("C->C4c", &[8]),
    ] {
        let layout = layout(text);
        let numbered = Tensor::numbered(sizes);
        let known: Vec<Option<i64>> = sizes.iter().map(|size| Some(*size)).collect();
        let uncut = (0..sizes.len()).map(|axis| known[axis].filter(|_| layout.block(axis) > 1));
        // The sizes of axes that aren't split may be unknown.
        for known in [known.clone(), uncut.collect()] {
            let there = layout.steps(&known).expect("multiples");
            let moved = there.iter().fold(Tensor::numbered(sizes), Tensor::step);
            assert_eq!(Some(&moved.shape), layout.shape(sizes).as_ref(), "{}", text);
            // The positions determine where each element is.
            let (old, new) = (strides(sizes), strides(&moved.shape));
            for (index, element) in moved.elements.iter().enumerate() {
                let mut axes = vec![0; sizes.len()];
                for (at, place) in layout.positions().iter().enumerate() {
                    let digit = index as i64 / new[at] % moved.shape[at];
                    let mut below = layout.block(place.axis);
                    let blocks = layout.positions()[..=at].iter();
                    let blocks = blocks.filter(|one| one.axis == place.axis);
                    if place.block.is_some() {
                        blocks.for_each(|one| below /= one.block.unwrap_or(1));
                    }
                    axes[place.axis] += digit * below;
                }
                let from: i64 = axes
                    .iter()
                    .zip(&old)
                    .map(|(index, stride)| index * stride)
                    .sum();
                assert_eq!(*element, from, "{} at {}", text, index);
            }
            let back = layout.steps_back(&known).expect("multiples");
            let again = back.iter().fold(moved, Tensor::step);
            assert_eq!(
                (again.shape, again.elements),
                (sizes.to_vec(), numbered.elements.clone())
            );
        }
    }
    let cut = layout("NCHW->NCHW4c");
    assert_eq!(cut.steps(&[Some(1), Some(6), None, None]), None);
    assert_eq!(cut.steps(&[None, None, None, None]), None);
    assert_eq!(cut.steps(&[Some(0), Some(8), Some(1), Some(1)]), None);
}
