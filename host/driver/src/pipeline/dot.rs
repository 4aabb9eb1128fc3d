//! What a pipeline would run as a graph that Graphviz draws.

use std::collections::HashMap;
use std::fmt::Write;

use passdock_core::OptionSource;

use super::explain::{Explained, Explanation};

impl Explanation {
    /// The passes as a graph in Graphviz's language: arrows in the order of execution, dashed ones
    /// from what is required to what requires it, Sequentials as boxes around their passes; what
    /// doesn't run is grey. A box says what requires its pass, and the options that somebody set.
    pub fn to_dot(&self) -> String {
        Dot {
            passes: &self.passes,
            text: String::new(),
        }
        .graph()
    }
}

struct Dot<'e> {
    passes: &'e [Explained],
    text: String,
}

impl Dot<'_> {
    fn graph(mut self) -> String {
        self.text
            .push_str("digraph pipeline {\n  compound=true;\n  node [shape=box];\n");
        self.nodes();
        self.order();
        self.required();
        self.text.push_str("}\n");
        self.text
    }

    /// A node for each pass; a Sequential is a cluster, with a point in it to draw arrows to.
    fn nodes(&mut self) {
        let mut open = 0;
        for (at, pass) in self.passes.iter().enumerate() {
            self.close(&mut open, pass.depth);
            let name = quoted(&label(pass));
            let (grey, color) = match pass.runs {
                true => ("", "black"),
                false => (", color=grey, fontcolor=grey", "grey"),
            };
            if pass.is_sequential {
                self.line(open, &format!("subgraph cluster_{at} {{"));
                open += 1;
                let label = format!("label={name}; color={color}; fontcolor={color};");
                self.line(open, &label);
                self.line(open, &format!("p{at} [shape=point{grey}];"));
            } else {
                self.line(open, &format!("p{at} [label={name}{grey}];"));
            }
        }
        self.close(&mut open, 0);
    }

    /// Ends clusters down to a depth.
    fn close(&mut self, open: &mut u32, depth: u32) {
        while *open > depth {
            *open -= 1;
            self.line(*open, "}");
        }
    }

    /// From each pass that runs to the next one that does. What doesn't run hangs on the one before
    /// it by a grey line, unless the pipeline has no place for it, or it is part of what doesn't run.
    fn order(&mut self) {
        let mut last: Option<usize> = None;
        // The depth of a Sequential that doesn't run, while its passes are listed.
        let mut off: Option<u32> = None;
        for (at, pass) in self.passes.iter().enumerate() {
            if off.is_some_and(|depth| pass.depth > depth) {
                continue;
            }
            off = (pass.is_sequential && !pass.runs).then_some(pass.depth);
            let style = if pass.runs { "" } else { " [color=grey]" };
            if let Some(from) = last.filter(|_| pass.has_place) {
                self.line(0, &format!("p{from} -> p{at}{style};"));
            }
            if pass.runs {
                last = Some(at);
            }
        }
    }

    /// Arrows from what is required, which stands before what requires it.
    fn required(&mut self) {
        let mut after: HashMap<(&str, u32), usize> = HashMap::new();
        let mut lines = Vec::new();
        for (at, pass) in self.passes.iter().enumerate().rev() {
            let by = pass.requested_by.as_deref();
            if let Some(&to) = by.and_then(|by| after.get(&(by, pass.depth))) {
                lines.push(format!("p{at} -> p{to} [style=dashed, constraint=false];"));
            }
            after.insert((&pass.name, pass.depth), at);
        }
        for line in lines.iter().rev() {
            self.line(0, line);
        }
    }

    fn line(&mut self, depth: u32, line: &str) {
        let indent = "  ".repeat(1 + depth as usize);
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "{indent}{line}");
    }
}

/// What a pass's box says, a line each.
fn label(pass: &Explained) -> String {
    let mut lines = vec![pass.name.clone()];
    let by = pass.requested_by.iter();
    lines.extend(by.map(|by| format!("(for {by})")));
    for option in &pass.options {
        let from = match option.from {
            OptionSource::Default => continue,
            OptionSource::Config => " (config)",
            OptionSource::Options => "",
        };
        lines.push(format!("{} = {}{from}", option.name, option.value));
    }
    lines.join("\n")
}

/// A text as Graphviz reads it back.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
