"""Checks passdock's results for a model.

Each check takes the original model and the file of its kind. It returns None,
or the reason why the file is wrong.
"""

import collections

import onnx

import fields
import wire

NAME_OF_NODE, ATTRIBUTE_OF_NODE, NAME_OF_ATTRIBUTE = 3, 5, 1
NEW_NAME, NEW_ATTRIBUTE, NEW_VALUE = b"passdock/renamed", b"passdock_corpus", "passdock/value"
# The fields that a replacement node must have in common with the old node.
MEANING = ("input", "output", "op_type", "overload", "name")
# The type of an attribute for each field of its value.
KINDS = {
    "f": onnx.AttributeProto.FLOAT,
    "i": onnx.AttributeProto.INT,
    "s": onnx.AttributeProto.STRING,
    "t": onnx.AttributeProto.TENSOR,
    "g": onnx.AttributeProto.GRAPH,
    "tp": onnx.AttributeProto.TYPE_PROTO,
    "floats": onnx.AttributeProto.FLOATS,
    "ints": onnx.AttributeProto.INTS,
    "strings": onnx.AttributeProto.STRINGS,
    "tensors": onnx.AttributeProto.TENSORS,
    "graphs": onnx.AttributeProto.GRAPHS,
    "type_protos": onnx.AttributeProto.TYPE_PROTOS,
}
# Operators with different results each time. They can't be folded, and equal ones can't be merged.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
MERGED, MOST_MERGED = "passdock.merged_from", 64
# Nodes that passes create for constants.
MADE = {"Constant", "ConstantOfShape"}
# A metadata key with the name of a node in the original model.
SOURCE = "test.source"
# A file may grow by 1 %, and by a few bytes for types.
GROWTH, ALLOWANCE = 1.01, 256


def same_fields(given, created):
    return fields.first_difference(fields.read(given), fields.read(created))


def renamed(given, created):
    kind, old, new = wire.changes(wire.read(given), wire.read(created))[-1]
    if kind != "node" or any(number != NAME_OF_NODE for number, _, _ in old) or len(old) > 1:
        return f"more than a node's name has changed: {numbers(old)} of the {kind} became {numbers(new)}"
    if [(number, body) for number, _, body in new] != [(NAME_OF_NODE, NEW_NAME)]:
        return f"the node's new name isn't there: {numbers(old)} became {numbers(new)}"
    return None


def attribute(given, created):
    kind, old, new = wire.changes(wire.read(given), wire.read(created))[-1]
    if kind != "node" or old or [number for number, _, _ in new] != [ATTRIBUTE_OF_NODE]:
        return f"more than an attribute is new: {numbers(old)} of the {kind} became {numbers(new)}"
    if dict((number, body) for number, _, body in wire.records(new[0][2])).get(NAME_OF_ATTRIBUTE) != NEW_ATTRIBUTE:
        return "another attribute is new"
    return None


def renamed_value(given, created):
    """Checks that the model is unchanged except for one renamed value."""
    before, after = fields.read(given), fields.read(created)
    pairs = zip(nodes_of(before), nodes_of(after))
    found = ((x, y) for x, y in pairs if NEW_VALUE in y.output and len(x.output) == len(y.output))
    old, new = next(found, (None, None))
    if old is not None:
        name = old.output[list(new.output).index(NEW_VALUE)]
        for node in nodes_of(after):
            for names in (node.input, node.output):
                names[:] = [name if each == NEW_VALUE else each for each in names]
        for graph in (*graphs_of(after), *after.functions):
            for info in graph.value_info:
                info.name = name if info.name == NEW_VALUE else info.name
    return fields.first_difference(before, after)


def replaced(given, created):
    found = wire.changes(wire.read(given), wire.read(created))
    if not any(found[-1][1:]):
        return None
    # The innermost node that contains the difference.
    pairs = [(old, new) for (kind, old, new), (inside, *_) in zip(found, found[1:]) if inside == "node"]
    if not pairs:
        kind, old, new = found[-1]
        return f"more than one node has changed: {numbers(old)} of the {kind} became {numbers(new)}"
    old, new = (onnx.NodeProto.FromString(records[0][2]) for records in pairs[-1])
    for name in MEANING:
        x, y = (onnx.NodeProto(**{name: getattr(node, name)}) for node in (old, new))
        why = fields.first_difference(x, y)
        if why:
            return f"the new node differs: {why}"
    if own(old.domain) != own(new.domain):
        return "the new node has another domain"
    return fields.first_difference(plain_attributes(old), plain_attributes(new))


def plain_attributes(node):
    """Returns a node's normalized attributes: without notes, with types and defaults, and only the first of each name."""
    created, seen = onnx.NodeProto(), set()
    for attribute in node.attribute:
        if attribute.name in seen:
            continue
        seen.add(attribute.name)
        plain = created.attribute.add()
        plain.CopyFrom(attribute)
        plain.DiscardUnknownFields()
        plain.ClearField("doc_string")
        if not plain.ref_attr_name:
            plain.ClearField("ref_attr_name")
            set_default(plain)
        elif not plain.type:
            plain.ClearField("type")
    return created


def set_default(attribute):
    held = [field.name for field, _ in attribute.ListFields() if field.name in KINDS]
    if not attribute.type and len(held) == 1:
        attribute.type = KINDS[held[0]]
    for field in ("f", "i", "s"):
        if attribute.type == KINDS[field]:
            setattr(attribute, field, getattr(attribute, field))


def numbers(records):
    return f"records {[number for number, _, _ in records[:5]]}"


def optimized(given, created):
    """Checks that the interface and all parts that no pass touched are unchanged, and that unfoldable nodes remain."""
    before, after = fields.read(given), fields.read(created)
    why = whole_model(before, after) or interface(before.graph, after.graph)
    why = why or kept_nodes(before, after) or not_folded(before, after)
    size, limit = created.stat().st_size, given.stat().st_size * GROWTH + ALLOWANCE
    # Before version 4 a folded initializer is kept, because it is also an input.
    grown = size > limit and before.ir_version >= 4
    return why or (f"{given.stat().st_size} bytes became {size}" if grown else None)


def whole_model(before, after):
    """Checks that the model's header is unchanged. New imports are allowed, for a `Constant` in a model without one."""
    x, y = onnx.ModelProto(), onnx.ModelProto()
    for model, copy in ((before, x), (after, y)):
        copy.CopyFrom(model)
        for field in ("graph", "functions", "opset_import"):
            copy.ClearField(field)
    versions = [{own(entry.domain): entry.version for entry in model.opset_import} for model in (before, after)]
    if not versions[0].items() <= versions[1].items():
        return f"the opset imports {versions[0]} became {versions[1]}"
    called = {(own(node.domain), node.op_type, node.overload) for node in nodes_of(after)}
    left = {(own(f.domain), f.name, f.overload) for f in after.functions}
    lost = {(own(f.domain), f.name, f.overload) for f in before.functions} - left
    if lost & called:
        return f"the functions {sorted(lost & called)} are called and lost"
    return fields.first_difference(x, y)


def interface(before, after):
    """Checks that the graph is unchanged except for its nodes, initializers and value infos."""
    x, y = onnx.GraphProto(), onnx.GraphProto()
    for graph, copy in ((before, x), (after, y)):
        copy.CopyFrom(graph)
        for field in ("node", "initializer", "sparse_initializer", "value_info"):
            copy.ClearField(field)
    why = fields.first_difference(x, y)
    if why:
        return why.replace("model", "graph", 1)
    # The parameters that an annotation names must exist if they existed before.
    noted = {entry.value for note in after.quantization_annotation for entry in note.quant_parameter_tensor_names}
    lost = sorted((noted & values_of(before)) - values_of(after))
    if lost:
        return f"the quantization annotations name {lost}, which are gone"
    infos = {info.name: info for info in before.value_info}
    for info in after.value_info:
        old = infos.get(info.name)
        if old is None:
            continue
        old_notes, new_notes = onnx.ValueInfoProto(), onnx.ValueInfoProto()
        for note, copy in ((old, old_notes), (info, new_notes)):
            copy.CopyFrom(note)
            copy.ClearField("type")
        why = fields.first_difference(old_notes, new_notes)
        if why:
            return why.replace("model", f"value_info {info.name!r}", 1)
    return None


def values_of(graph):
    names = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    names |= {tensor.values.name for tensor in graph.sparse_initializer}
    return names | {name for node in graph.node for name in node.output if name}


def kept_nodes(before, after):
    """Checks that nodes with the same operator, inputs and outputs are unchanged, including notes, and initializers, too."""
    known = collections.defaultdict(list)
    for node in nodes_of(before):
        known[signature(node)].append(node)
    for node in nodes_of(after):
        same = known.get(signature(node))
        if same and not any(attr.g.node or attr.graphs for attr in node.attribute):
            kept = without_sources(own_spelt(node))
            if node.name == f"Identity_{node.output[0]}" and not any(old.name for old in same):
                # The writer added it. The model had one without a name.
                kept.ClearField("name")
            differences = [fields.first_difference(own_spelt(old), kept) for old in same]
            if all(differences):
                return differences[0].replace("model", f"node {node.name!r} ({node.op_type})", 1)
    tensors = {tensor.name: tensor for tensor in before.graph.initializer}
    for tensor in after.graph.initializer:
        if tensor.name in tensors:
            why = fields.first_difference(tensors[tensor.name], tensor)
            if why:
                return why.replace("model", f"initializer {tensor.name!r}", 1)
    return None


def with_sources(model):
    """Returns a copy of a model in which each node's metadata has its name."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for at, node in enumerate(nodes_of(copy)):
        node.metadata_props.add(key=SOURCE, value=node.name or str(at))
    return copy


def sources_kept(before, after):
    """Checks that each node keeps the metadata of a source node, and lists the nodes merged into it without duplicates."""
    names = {node.name for node in nodes_of(before)}
    for node in nodes_of(after):
        metadata = {entry.key: entry.value for entry in node.metadata_props}
        if SOURCE not in metadata and node.op_type not in MADE and node.name != f"Identity_{node.output[0]}":
            return f"the node {node.name!r} ({node.op_type}) has no metadata of a node before"
        merged = metadata.get(MERGED, node.name).split("\n")
        if len(merged) > MOST_MERGED or len(set(merged)) < len(merged) or MERGED in metadata and not names.issuperset(merged):
            return f"the node {node.name!r} ({node.op_type}) is merged from {merged}"
    return None


def signature(node):
    return (node.op_type, node.domain, node.overload, tuple(node.input), tuple(node.output))


def without_sources(node):
    """Returns a copy of a node without the metadata about merged nodes, which doesn't change a node otherwise."""
    node = onnx.NodeProto.FromString(node.SerializeToString())
    if any(entry.key == MERGED for entry in node.metadata_props):
        rest = [entry for entry in node.metadata_props if entry.key != MERGED]
        del node.metadata_props[:]
        node.metadata_props.extend(rest)
    return node


def own_spelt(node):
    """Returns a node with the default spelling of ONNX's domain."""
    if own(node.domain) == "" and node.HasField("domain"):
        node = onnx.NodeProto.FromString(node.SerializeToString())
        node.ClearField("domain")
    return node


def nodes_of(model):
    """Yields all nodes, including those of subgraphs and functions."""
    pending = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                pending.extend(graph.node)


def graphs_of(model):
    """Yields the main graph and all subgraphs."""
    yield model.graph
    for node in nodes_of(model):
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
            yield from attribute.graphs


def not_folded(before, after):
    """Checks that the main graph keeps all random and unknown nodes that an output needs."""
    kept = collections.Counter(kind(node) for node in after.graph.node if is_kept(node))
    for needed, count in collections.Counter(kind(n) for n in live(before.graph) if is_kept(n)).items():
        if kept[needed] < count:
            return f"of {count} nodes {needed} are {kept[needed]} left"
    return None


def kind(node):
    return own(node.domain), node.op_type


def is_kept(node):
    return node.op_type in RANDOM if own(node.domain) == "" else own(node.domain) != "ai.onnx.ml"


def live(graph):
    """Yields the nodes that the graph's outputs need."""
    needed = {info.name for info in graph.output}
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            yield node
            needed.update(node.input)
            for inner in nodes_of(onnx.ModelProto(graph=onnx.GraphProto(node=[node]))):
                needed.update(inner.input)
            needed.update(info.name for attr in node.attribute for info in attr.g.output)


def own(domain):
    return "" if domain == "ai.onnx" else domain


class Checker:
    """Runs onnx's checker, with a cache of the results."""

    def __init__(self):
        self.known = {}

    def level(self, path):
        """Returns 2 if a file passes with type inference, 1 if it passes without, 0 otherwise; and the checker's message."""
        data = path.read_bytes()
        if data not in self.known:
            self.known[data] = self.check(path)
        return self.known[data]

    def check(self, path):
        why = None
        for level, full in ((2, True), (1, False)):
            try:
                onnx.checker.check_model(str(path), full_check=full)
                return level, why
            except Exception as error:  # the checker raises many kinds of errors
                why = f"onnx.checker: {str(error).strip().splitlines()[0][:200]}"
        return 0, why

    def forget(self):
        self.known.clear()

    def newly_rejected(self, given, created):
        had, _ = self.level(given)
        has, why = self.level(created)
        return why if has < had else None


CHECKS = {
    "fresh": same_fields,
    "text": same_fields,
    "renamed": renamed,
    "attribute": attribute,
    "value": renamed_value,
    "replaced": replaced,
    "optimized": optimized,
}


# Changes of one op, if the model has ops.
CHANGES = {"renamed", "attribute", "value", "replaced"}
# onnx's checker rejects this change, because it adds an unknown attribute to ONNX's own ops.
UNCHECKED = {"attribute"}


def check_all(given, created, findings, checker, like=None):
    """Returns [(check, reason or None)]. `made` are the files by kind, `findings` earlier failures.

    `like` is an equivalent file in topological order.
    """
    if "read" in findings:
        return [("read", findings["read"])]
    verdicts = [("same", findings["same"])]
    for name, check in CHECKS.items():
        if findings[name]:
            verdicts.append((name, findings[name]))
        elif not created[name].exists():
            # There is nothing to change without an op; a Constant isn't an op.
            ops = (node.op_type for node in nodes_of(fields.read(given)))
            if name not in CHANGES or any(op != "Constant" for op in ops):
                verdicts.append((name, "nothing was written"))
        else:
            why = check(given, created[name])
            verdicts.append((name, check(like, created[name]) if why and like else why))
            if name not in UNCHECKED:
                verdicts.append((f"{name}, checked", checker.newly_rejected(given, created[name])))
    checker.forget()
    return verdicts
