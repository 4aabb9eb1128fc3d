//! Decides which ops are computed in the low-precision type, with few `Cast`s.
//!
//! First, each op follows its operands. Then, for each group of connected ops that follow, the minimum cut between
//! always and never gives the assignment with the fewest `Cast`s. It is used if it needs fewer casts. A value costs one
//! cast if it is defined on one side and used on the other, regardless of the number of uses.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::constants::Fit;
use super::cut::{Graph, SINK, SOURCE};
use super::flow::{Definition, Flow, Flows, Kind};
use crate::shared::union_find::UnionFind;

/// The minimum share of elements, in thousandths, for which a note reports the loss of precision in a constant.
const MANY: u64 = 100;

pub(super) fn decide(f: &Function, cx: &PassContext, flows: &mut Flows) -> PassResult {
    follow(f, cx, flows)?;
    for group in groups(flows) {
        improve(f, flows, &group)?;
    }
    note_small(f, cx, flows)
}

/// Assigns each member the type of its operands, in program order.
fn follow(f: &Function, cx: &PassContext, flows: &mut Flows) -> PassResult {
    for number in 0..flows.members.len() {
        let member = &flows.members[number];
        let all = member
            .operands
            .iter()
            .map(|flow| &flows.all[*flow as usize]);
        let mut others = all
            .filter(|flow| flow.from != Definition::Constant)
            .peekable();
        let is_low =
            |flow: &Flow| matches!(flow.from, Definition::Low(_)) || flows.is_defined_low(flow);
        let converts = member.role.always || others.peek().is_some() && others.all(is_low);
        if !converts {
            continue;
        }
        let bad = out_of_range_operand(f, flows, number)?;
        if let (Some((value, fit)), Kind::Op(op)) = (bad, flows.members[number].kind) {
            note_range(f, cx, flows, op, value, fit);
        }
        flows.members[number].low = bad.is_none();
    }
    Ok(())
}

/// Returns an operand of a member that is a constant out of the low-precision type's range.
fn out_of_range_operand(
    f: &Function,
    flows: &mut Flows,
    member: usize,
) -> Result<Option<(ValueId, Fit)>, EditError> {
    for &operand in &flows.members[member].operands {
        let flow = &flows.all[operand as usize];
        if flow.from == Definition::Constant {
            let fit = flows.constants.fit(f, flow.value)?;
            if !fit.fits() {
                return Ok(Some((flow.value, fit)));
            }
        }
    }
    Ok(None)
}

/// Connected members that follow, with the values that they define or use.
struct Group {
    members: Vec<u32>,
    flows: Vec<u32>,
}

/// Returns the connected groups of members that follow.
fn groups(flows: &Flows) -> Vec<Group> {
    let mut sets = UnionFind::new(flows.members.len());
    for flow in &flows.all {
        let mut ends = ends(flows, flow);
        if let Some(first) = ends.next() {
            ends.for_each(|other| sets.merge(first as usize, other as usize));
        }
    }
    let mut positions: HashMap<usize, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (number, member) in flows.members.iter().enumerate() {
        if !member.role.always {
            let root = sets.root(number);
            let position = *positions.entry(root).or_insert(groups.len());
            if position == groups.len() {
                groups.push(Group {
                    members: Vec::new(),
                    flows: Vec::new(),
                });
            }
            groups[position].members.push(number as u32);
        }
    }
    for (number, flow) in flows.all.iter().enumerate() {
        if let Some(end) = ends(flows, flow).next() {
            let root = sets.root(end as usize);
            groups[positions[&root]].flows.push(number as u32);
        }
    }
    groups
}

/// Returns the members that follow and define or use a value.
fn ends<'f>(flows: &'f Flows, flow: &'f Flow) -> impl Iterator<Item = u32> + 'f {
    let producer = match flow.from {
        Definition::Member(member) => Some(member),
        _ => None,
    };
    // Constants don't connect members, as they can exist in both types.
    let users = flow.to.iter().filter(|_| flow.from != Definition::Constant);
    let all = producer.into_iter().chain(users.copied());
    all.filter(|member| !flows.members[*member as usize].role.always)
}

/// Returns the number of `Cast`s that a value needs.
fn cost(flows: &Flows, flow: &Flow) -> u32 {
    if matches!(flow.from, Definition::Constant | Definition::Low(_)) {
        return 0;
    }
    let users = flow.to.iter().map(|user| &flows.members[*user as usize]);
    let rounded = users.clone().any(|user| user.low && user.role.rounds);
    let low = users.clone().any(|user| user.low && !user.role.rounds) || !flow.casts.is_empty();
    let float = users.clone().any(|user| !user.low) || flow.floats;
    match flows.is_defined_low(flow) {
        true => u32::from(float || rounded),
        // A cast to the low-precision type and one back.
        false => u32::from(low || rounded) + u32::from(rounded),
    }
}

/// Applies the assignment with the fewest `Cast`s to a group, if it needs fewer than the current one.
fn improve(f: &Function, flows: &mut Flows, group: &Group) -> PassResult {
    let all = group.flows.iter().map(|flow| &flows.all[*flow as usize]);
    let now: u32 = all.map(|flow| cost(flows, flow)).sum();
    if now == 0 {
        return Ok(());
    }
    let mut graph = Graph::new(2);
    let mut nodes: HashMap<u32, u32> = HashMap::new();
    for &member in &group.members {
        let node = graph.node();
        nodes.insert(member, node);
        if out_of_range_operand(f, flows, member as usize)?.is_some() {
            graph.implies(node, SINK);
        }
    }
    for &flow in &group.flows {
        add(&mut graph, flows, &flows.all[flow as usize], &nodes);
    }
    match graph.cut() {
        Some((fewest, is_source)) if fewest < now => {
            for (member, node) in nodes {
                flows.members[member as usize].low = is_source[node as usize];
            }
        }
        _ => {}
    }
    Ok(())
}

/// Adds the costs of a value.
fn add(graph: &mut Graph, flows: &Flows, flow: &Flow, nodes: &HashMap<u32, u32>) {
    let side = |number: &u32| {
        let member = &flows.members[*number as usize];
        match nodes.get(number) {
            Some(&node) => node,
            None if member.low => SOURCE,
            None => SINK,
        }
    };
    let producer = match flow.from {
        Definition::Constant | Definition::Low(_) => return,
        Definition::Float => SINK,
        Definition::Member(number) if flows.members[number as usize].role.rounds => SINK,
        Definition::Member(number) => side(&number),
    };
    let mut users: Vec<u32> = flow.to.iter().map(side).collect();
    users.extend(flow.floats.then_some(SINK));
    users.extend((!flow.casts.is_empty()).then_some(SOURCE));
    let mut of_users = flow.to.iter().map(|user| &flows.members[*user as usize]);
    if of_users.any(|user| user.low && user.role.rounds) {
        users.push(SINK);
        graph.costs(SOURCE, producer);
    }
    users.sort_unstable();
    users.dedup();
    let (up, down) = (graph.node(), graph.node());
    graph.costs(producer, up);
    graph.costs(down, producer);
    for user in users {
        graph.implies(up, user);
        graph.implies(user, down);
    }
}

fn note_range(f: &Function, cx: &PassContext, flows: &Flows, op: OpId, value: ValueId, fit: Fit) {
    let (name, low) = (called(f, value), flows.low.name);
    let why = match fit {
        Fit::Overflows(element) => format!("element {element:?} of {name} becomes infinity"),
        Fit::Underflows(element) => {
            format!("all nonzero elements of {name}, such as {element:?}, become zero")
        }
        Fit::Fits { .. } => return,
    };
    let message = format!("`{}` stays in float32: in {low}, {why}", f.name(op));
    let note = Diagnostic::note(message).code("relax::precision-range");
    cx.emit(&note.at(operand_location(f, op, value)));
}

/// Emits notes about constants with many elements that lose precision because they are subnormal.
fn note_small(f: &Function, cx: &PassContext, flows: &mut Flows) -> PassResult {
    for flow in &flows.all {
        let users = flow.to.iter().map(|user| &flows.members[*user as usize]);
        let mut low = users.filter(|user| user.low);
        let (Definition::Constant, Some(user)) = (flow.from, low.next()) else {
            continue;
        };
        if let (Fit::Fits { small }, Kind::Op(op)) =
            (flows.constants.fit(f, flow.value)?, user.kind)
            && small > MANY
        {
            let message = format!(
                "in {}, {}.{} % of the elements of {} lose precision: they are subnormal",
                flows.low.name,
                small / 10,
                small % 10,
                called(f, flow.value)
            );
            let note = Diagnostic::note(message).code("relax::precision-small");
            cx.emit(&note.at(operand_location(f, op, flow.value)));
        }
    }
    Ok(())
}

/// Returns the span of an operand of an op.
fn operand_location(f: &Function, op: OpId, value: ValueId) -> OpSpan {
    let index = f.operands(op).position(|operand| operand == value);
    OpSpan::operand(op, index.unwrap_or(0)).within(f)
}

fn called(f: &Function, constant: ValueId) -> String {
    match f.value_name(constant) {
        Some(name) => format!("constant `{name}`"),
        None => "the constant".to_owned(),
    }
}
