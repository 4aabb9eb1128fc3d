//! Models of any size, as IR text. Each has many entities of one kind, which shows where a pass, a writer or
//! the verifier isn't linear in the size of the model.

/// The templates of the models. The head of the file describes the format.
const TEMPLATES: &str = include_str!("shapes.txt");

/// The maximum number of domains that a function imports.
const MAX_DOMAINS: usize = 1000;

/// A kind of model.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The kind of entity that the model has many of.
    pub name: &'static str,
    divisor: usize,
    max: usize,
    template: &'static str,
    options: Option<(&'static str, &'static str)>,
}

/// Returns all shapes.
pub fn shapes() -> Vec<Shape> {
    TEMPLATES.split("\n== ").skip(1).map(Shape::new).collect()
}

impl Shape {
    fn new(entry: &'static str) -> Shape {
        let (head, template) = entry.split_once('\n').unwrap_or((entry, ""));
        let (head, max) = head.split_once(" <= ").unwrap_or((head, ""));
        let (name, divisor) = head.split_once(" / ").unwrap_or((head, ""));
        let (template, options) = match template.split_once("-- ") {
            Some((template, options)) => (template, options.split_once('\n')),
            None => (template, None),
        };
        Shape {
            name,
            divisor: divisor.parse().unwrap_or(1),
            max: max.parse().unwrap_or(usize::MAX),
            template,
            options,
        }
    }

    /// Returns a model with about `size` ops, or entities of the shape's kind.
    pub fn text(&self, size: usize) -> String {
        let body = self.expand(self.template, size);
        match body.starts_with("module") {
            true => body,
            false => format!(
                "module {{\nfn @main(%x: f32[4]) -> (%y: f32[4]) opset(\"\" = 17) {{\n{body}}}\n}}\n"
            ),
        }
    }

    /// Returns options, as TOML, with which a pass does more work.
    pub fn options(&self, pass: &str, size: usize) -> Option<String> {
        let (name, options) = self.options?;
        (name == pass).then(|| self.expand(options, size))
    }

    fn expand(&self, template: &str, size: usize) -> String {
        let count = (size / self.divisor).clamp(1, self.max);
        let lines: Vec<(&str, &str)> = template.lines().map(directive).collect();
        let mut text = String::new();
        for group in lines.chunk_by(|a, b| a.0 == b.0) {
            let numbers: Vec<usize> = match group[0].0 {
                "@" => (0..count).collect(),
                "@1" => (1..count).collect(),
                "@-" => (0..count - 1).collect(),
                "@~" => (0..count).rev().collect(),
                "@1~" => (1..count).rev().collect(),
                _ => vec![0],
            };
            for number in numbers {
                for (_, line) in group {
                    text += &with_lists(line, number, count);
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// Splits a line into its repetition directive and the rest.
fn directive(line: &str) -> (&str, &str) {
    let repeated = line.starts_with('@').then(|| line.split_once(' '));
    repeated.flatten().unwrap_or(("", line))
}

fn with_lists(line: &str, number: usize, count: usize) -> String {
    let mut parts = line.split("[*");
    let mut text = numbered(parts.next().unwrap_or_default(), number, count);
    for part in parts {
        let (item, rest) = part.split_once("*]").unwrap_or_default();
        let count_of_items = if item.contains("#%") {
            count.min(MAX_DOMAINS)
        } else {
            count
        };
        let items = (0..count_of_items).map(|number| numbered(item, number, count));
        text += &items
            .filter(|item| !item.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        text += &numbered(rest, number, count);
    }
    text
}

/// Returns the alternative for `number`, with its placeholders replaced.
fn numbered(text: &str, number: usize, count: usize) -> String {
    let alternatives: Vec<&str> = text.split('|').collect();
    alternatives[number % alternatives.len()]
        .replace("#n", &count.to_string())
        .replace("#$", &(count - 1).to_string())
        .replace("#-", &number.wrapping_sub(1).to_string())
        .replace("#+", &(number + 1).to_string())
        .replace("#%", &(number % MAX_DOMAINS).to_string())
        .replace('#', &number.to_string())
}
