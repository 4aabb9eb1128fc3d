//! Handles stay on the thread that received them: none is `Send` or `Sync`.

use passdock_plugin_api::ir::{
    Dims, Effects, IterUses, Liveness, Names, Ops, Order, Strings, Walk,
};
use passdock_plugin_api::*;

/// Fails to compile if a type has the trait, because the path is then ambiguous.
macro_rules! isnt {
    ($trait:ident: $($type:ty),* $(,)?) => {$({
        trait Ambiguous<A> {
            fn named() {}
        }
        impl<T: ?Sized> Ambiguous<()> for T {}
        #[allow(dead_code)]
        struct Also;
        impl<T: ?Sized + $trait> Ambiguous<Also> for T {}
        <$type as Ambiguous<_>>::named();
    })*};
}

macro_rules! stays {
    ($($type:ty),* $(,)?) => {
        isnt!(Send: $($type),*);
        isnt!(Sync: $($type),*);
    };
}

#[test]
fn handles_are_not_send_or_sync() {
    stays!(
        Function,
        Snapshot<'static>,
        Module<'static>,
        PassContext,
        OpCall,
        PassInfo<'static>,
        Mutation<'static>,
        FunctionBuilder<'static>,
        Ops,
        IterUses<'static>,
        Walk<'static>,
        Type<'static>,
        Dims<'static>,
        Attr<'static>,
        Strings<'static>,
        Liveness<'static>,
        Order<'static>,
        Effects<'static>,
        Names<'static>,
    );
}
