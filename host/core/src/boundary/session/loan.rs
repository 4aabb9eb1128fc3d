//! Loans of functions, modules and contexts to plugins, in a process that lends.

use passdock_abi as abi;
use passdock_abi::{FunctionView, LaidOut, ModuleView};
use passdock_crash::LentFor;

use super::laid_out::LaidOutBuffers;
use super::lending::{LentHandle, LentView, Loans};
use super::{FunctionSession, FunctionState, lends};

/// The copy of a function that a plugin has until the function of the plugin that received it returns.
pub(in crate::boundary) struct FunctionLoan {
    handle: LentHandle,
    view: LentView<FunctionView>,
    /// The columns and other memory that expires with the next edit.
    pub(in crate::boundary) columns: Loans,
    /// The last result of a layout query.
    layouts: Loans,
    /// Whether columns expire only with the loan, as in a definition.
    keeps_columns: bool,
    /// The view and the loan before this one, which continue after it.
    outer: (*mut FunctionView, Option<Box<FunctionLoan>>),
}

impl FunctionSession {
    /// Lends the function to another function of a plugin, if the process lends.
    pub(in crate::boundary) fn begin_loan(&self, keeps_columns: bool) {
        if !lends() {
            return;
        }
        self.change(|state| {
            let mut columns = Loans::new(LentFor::Columns);
            let view = LentView::new(columns.columns(state.function().view()));
            let outer = self.view.replace(view.as_ptr());
            let outer = (outer, state.extras().loan.take());
            state.extras().loan = Some(Box::new(FunctionLoan {
                handle: LentHandle::new(self),
                view,
                columns,
                layouts: Loans::new(LentFor::Layouts),
                keeps_columns,
                outer,
            }));
        });
    }

    /// Ends the last loan, if there is one.
    pub(in crate::boundary) fn end_loan(&self) {
        self.change(|state| {
            let extras = state.extras.as_mut();
            if let Some(extras) = extras
                && let Some(loan) = extras.loan.take()
            {
                let (view, loan) = loan.outer;
                self.view.set(view);
                extras.loan = loan;
            }
        });
    }

    /// Returns the handle of the last loan, which begins if there is none.
    #[cold]
    pub(super) fn lent_handle(&self) -> Option<*mut abi::Function> {
        let handle = |state: &mut FunctionState| Ok(state.loan().map(|loan| loan.handle.as_ptr()));
        if let Ok(None) = self.with(handle) {
            self.begin_loan(false);
        }
        self.with(handle).ok().flatten()
    }
}

impl FunctionState {
    /// Returns the last loan. `None` if the process doesn't lend.
    pub(in crate::boundary) fn loan(&mut self) -> Option<&mut FunctionLoan> {
        self.extras.as_mut()?.loan.as_deref_mut()
    }
}

impl FunctionLoan {
    /// Shows the changed function. Its columns move.
    pub(super) fn show(&mut self, view: FunctionView) {
        if !self.keeps_columns {
            self.columns.expire();
        }
        self.view.write(self.columns.columns(view));
    }

    /// Lends the result of a layout query until the next one.
    pub(in crate::boundary) fn layouts(&mut self, result: &LaidOutBuffers) -> LaidOut {
        self.layouts.expire();
        result.lent(&mut self.layouts)
    }
}

/// The copy of a module that a plugin has.
pub(super) struct ModuleLoan {
    handle: LentHandle,
    view: LentView<ModuleView>,
    columns: Loans,
}

impl ModuleLoan {
    pub(super) fn new<S>(session: &S, view: &ModuleView) -> ModuleLoan {
        let mut columns = Loans::new(LentFor::Columns);
        ModuleLoan {
            handle: LentHandle::new(session),
            view: LentView::new(lent_module(&mut columns, view)),
            columns,
        }
    }

    /// Shows the changed module.
    pub(super) fn show(&mut self, view: &ModuleView) {
        self.columns.expire();
        self.view.write(lent_module(&mut self.columns, view));
    }

    pub(super) fn reference(&self) -> abi::ModuleRef {
        abi::ModuleRef {
            handle: self.handle.as_ptr(),
            view: self.view.as_ptr(),
        }
    }
}

fn lent_module(columns: &mut Loans, view: &ModuleView) -> ModuleView {
    // SAFETY: the view is one of the host.
    let functions = unsafe { columns.column(view.functions, size_of::<abi::FunctionEntry>()) };
    ModuleView { functions, ..*view }
}
