//! The list of records.

use std::any::type_name;
use std::mem::{align_of, offset_of, size_of};

use passdock_abi as abi;

use crate::{Field, Record};

/// The size of what a projection shows, without anything to project from.
const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// The type of what a projection shows.
fn type_of_field<T, F>(_: fn(&T) -> &F) -> &'static str {
    type_name::<F>()
}

/// The C name of a field: its Rust name, unless that is a word of C.
#[rustfmt::skip]
macro_rules! c_name {
    ($field:ident) => { stringify!($field) };
    ($field:ident $c:literal) => { $c };
}

macro_rules! records {
    ($($record:ident $c:literal { $($field:ident $(as $c_field:literal)?),* $(,)? })*) => {
        /// Every record that crosses the boundary.
        pub static RECORDS: &[Record] = &[$(Record {
            rust: stringify!($record),
            c: $c,
            size: size_of::<abi::$record>(),
            align: align_of::<abi::$record>(),
            fields: &[$(Field {
                rust: stringify!($field),
                c: c_name!($field $($c_field)?),
                offset: offset_of!(abi::$record, $field),
                size: size_of_field::<abi::$record, _>(|record| &record.$field),
                ty: || type_of_field::<abi::$record, _>(|record| &record.$field),
            }),*],
        }),*];
    };
}

records! {
    Range "passdock_range" {
        start,
        len,
    }
    Op "passdock_op" {
        name,
        flags,
        operands,
        results,
        attrs,
        regions,
        parent,
        prev,
        next,
        loc,
        order,
    }
    Value "passdock_value" {
        ty as "type_id",
        name,
        flags,
        def,
        index,
        first_use,
        use_count,
        constant,
    }
    Use "passdock_use" {
        value,
        user,
        next,
        prev,
    }
    Region "passdock_region" {
        parent,
        name,
        args,
        ports,
        first,
        last,
        flags,
        loc,
    }
    Port "passdock_port" {
        name,
        ty as "type_id",
        flags,
        reserved,
    }
    Attr "passdock_attr" {
        name,
        kind,
        bits,
        list,
        flags,
        stands_for,
    }
    Type "passdock_type" {
        kind,
        dtype,
        lanes,
        flags,
        dims,
        aux,
        name,
        reserved,
    }
    Dim "passdock_dim" { kind, denotation, value }
    DimExpr "passdock_dim_expr" {
        kind,
        reserved,
        lhs,
        rhs,
    }
    Constant "passdock_constant" {
        value,
        ty as "type_id",
        region,
        storage,
        flags,
        loc,
        anchor,
        reserved,
        byte_len,
    }
    Opset "passdock_opset" {
        domain,
        reserved,
        version,
    }
    Loc "passdock_loc" {
        kind,
        name,
        a,
        b,
    }
    Str "passdock_str" {
        ptr,
        len,
    }
    Bytes "passdock_bytes" {
        ptr,
        len,
    }
    Column "passdock_column" {
        base,
        len,
        reserved,
    }
    FunctionView "passdock_function_view" {
        struct_size,
        kind,
        name,
        body,
        version,
        symbols,
        ops,
        values,
        uses,
        regions,
        ports,
        attrs,
        types,
        dims,
        exprs,
        constants,
        locs,
        opsets,
        ids,
        ints,
        floats,
        strings,
        bytes,
        function_attrs,
        op_count,
        reserved,
    }
    FunctionEntry "passdock_function_entry" {
        name,
        kind,
        op_count,
        reserved,
    }
    ModuleView "passdock_module_view" {
        struct_size,
        reserved,
        version,
        symbols,
        functions,
    }
    FunctionRef "passdock_function_ref" {
        handle,
        view,
    }
    ModuleRef "passdock_module_ref" {
        handle,
        view,
    }
    Position "passdock_position" {
        region,
        before,
    }
    TypeDesc "passdock_type_desc" {
        struct_size,
        kind,
        dtype,
        lanes,
        flags,
        name,
        dims,
        dim_count,
        layout,
        layout_count,
        items,
        item_count,
    }
    AttrDesc "passdock_attr_desc" {
        struct_size, kind, name, flags, bits, data, count, stands_for, reserved,
    }
    PortDesc "passdock_port_desc" {
        struct_size, flags, ty as "type_id", reserved, name,
    }
    ResultsDesc "passdock_results_desc" {
        struct_size, flags, values, ports, count, port_stride, reserved,
    }
    RegionDesc "passdock_region_desc" {
        struct_size, flags, name, arg_stride, args, arg_count,
    }
    OpDesc "passdock_op_desc" {
        struct_size,
        flags,
        name,
        loc,
        operands,
        operand_count,
        result_types,
        result_count,
        attrs,
        attr_count,
        regions,
        region_count,
        attr_stride,
        region_stride,
    }
    ConstantDesc "passdock_constant_desc" {
        struct_size,
        flags,
        ty as "type_id",
        region,
        name,
        data,
    }
    CloneDesc "passdock_clone_desc" {
        struct_size,
        flags,
        region,
        reserved,
        source,
        at,
        args,
        arg_count,
        captures,
        capture_count,
        results,
        result_count,
    }
    TextDesc "passdock_text_desc" {
        struct_size, flags, op, reserved, text, args, arg_count, results, result_count,
    }
    LaidOut "passdock_laid_out" {
        struct_size, reserved, operands, operand_count, results, result_count, body,
    }
    CloneOpsDesc "passdock_clone_ops_desc" {
        struct_size, flags, source, ops, op_count, at, captures, capture_count, results, result_count,
    }
    OutlineDesc "passdock_outline_desc" {
        struct_size, flags, function, reserved, ops, op_count, name,
    }
    FunctionDesc "passdock_function_desc" {
        struct_size, flags, kind, opsets_of, name,
    }
    RunDesc "passdock_run_desc" {
        struct_size, flags, name,
    }
    EvaluateDesc "passdock_evaluate_desc" {
        struct_size, flags, max_bytes,
    }
    RewriteDesc "passdock_rewrite_desc" {
        struct_size, flags, rules,
    }
    Version "passdock_version" {
        major,
        minor,
    }
    Host "passdock_host" {
        struct_size,
        reserved,
        abi,
        ir,
        symbols,
        functions,
        modules,
        context,
        ops,
        definitions,
        get_extension,
    }
    SymbolApi "passdock_symbol_api" {
        struct_size,
        reserved,
        text,
        intern,
        find,
    }
    FunctionApi "passdock_function_api" {
        struct_size,
        reserved,
        last_error,
        constant_data,
        create_op,
        replace_op,
        replace_op_with,
        erase_op,
        move_op,
        set_operand,
        replace_uses,
        set_attr,
        remove_attr,
        set_value_type,
        set_value_name,
        add_type,
        add_expr,
        add_constant,
        erase_constant,
        clone_region,
        add_arg,
        set_results,
        set_opset,
        fuse_locs,
        inline_region,
        set_loc,
        constant_hash,
        constants_equal,
        name_loc,
        replace_symbols,
        remove_args,
        freeze_args,
        clone_ops,
        type_from,
        names_function,
        replace_body,
    }
    ModuleApi "passdock_module_api" {
        struct_size,
        reserved,
        last_error,
        snapshot,
        release,
        edit,
        create_function,
        remove_function,
        run_pass,
        outline,
    }
    Label "passdock_label" {
        struct_size,
        op,
        part,
        index,
        function,
        flags,
        attr,
        text,
    }
    Diagnostic "passdock_diagnostic" {
        struct_size,
        severity,
        op,
        flags,
        code,
        message,
        help,
        function,
        label_stride,
        labels,
        label_count,
        notes,
        note_count,
    }
    Failure "passdock_failure" {
        struct_size,
        op,
        message,
        file,
        line,
        column,
        function,
        flags,
    }
    Setting "passdock_setting" {
        struct_size,
        kind,
        int as "int_value",
        float as "float_value",
        string as "string_value",
        items,
        item_count,
        item_stride,
    }
    SettingItem "passdock_setting_item" {
        name,
        value,
    }
    ContextApi "passdock_context_api" {
        struct_size,
        reserved,
        opt_level,
        option,
        config,
        emit,
        fail,
        current,
        find_pass,
        last_error,
        may_rewrite,
        rewrote,
        rewrite,
    }
    OpApi "passdock_op_api" {
        struct_size,
        reserved,
        traits,
        infer,
        evaluate,
        decompose,
        evaluate_with,
        known_dims,
        check_op,
        infer_with,
        attributes,
        legalize,
        layout,
        alter_layout,
        insert_text,
        supports,
    }
    DefinitionApi "passdock_definition_api" {
        struct_size,
        reserved,
        last_error,
        set_result_type,
        set_result_dims,
        operand_dims,
        add_expr,
        add_type,
        allocate_result,
        refuse,
        set_body,
        wanted_layout,
        set_operand_layout,
        set_result_layout,
        target,
    }
    AnalysisApi "passdock_analysis_api" {
        struct_size,
        reserved,
        column,
        get,
        put,
        preserve,
    }
    Liveness "passdock_liveness" {
        last_use,
    }
    OpOrder "passdock_op_order" {
        position,
        end,
        depth,
    }
    OpEffects "passdock_op_effects" {
        traits,
        effects,
    }
    NameUse "passdock_name_use" {
        name,
        count,
        first,
        flags,
        traits,
    }
    PassEntry "passdock_pass_entry" {
        name,
        kind,
        reserved,
        state,
        run_function,
        run_module,
    }
    OpEntry "passdock_op_entry" {
        name,
        since,
        min_operands,
        max_operands,
        traits,
        state,
        infer,
        evaluate,
        attrs,
        attr_count,
        attr_stride,
        decompose,
        legalize,
        layout,
        alter_layout,
        supports,
        targets,
        target_count,
    }
    AttrEntry "passdock_attr_entry" {
        name,
        doc,
        kind,
        flags,
        bits,
        data,
        count,
    }
    PassInfo "passdock_pass_info" {
        struct_size,
        opt_level,
        name,
        plugin,
        required,
        required_count,
        error,
    }
    InstrumentEntry "passdock_instrument_entry" {
        name,
        state,
        create,
        destroy,
        enter_pass_ctx,
        exit_pass_ctx,
        should_run,
        run_before_pass,
        run_after_pass,
        pass_failed,
        report,
    }
    Plugin "passdock_plugin" {
        struct_size,
        pass_count,
        passes,
        pass_stride,
        op_stride,
        ops,
        op_count,
        reserved,
        instruments,
        instrument_count,
        instrument_stride,
        get_extension,
    }
    Attach "passdock_attach" {
        struct_size,
        reserved,
        path,
        reason,
    }
}
