//! Handles stay on the thread that they were handed to: none is `Send`, and none may be looked at from
//! another.

use passdock_plugin_api::ir::{
    Dims, Effects, IterUses, Liveness, Names, Ops, Order, Strings, Walk,
};
use passdock_plugin_api::*;

/// Fails to compile if a type has the trait: then there are two ways to read the path.
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
fn handles_stay_on_their_thread() {
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
