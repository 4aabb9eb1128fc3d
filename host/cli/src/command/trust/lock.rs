//! `passdock lock`: writes the versions and hashes of a pipeline's plugins.

use passdock::PassError;
use passdock::trust::{self, LockChange, LockUpdate, Locked};

use crate::args::trust::LockArgs;
use crate::show::{self, TextTable};
use crate::{plugins, request};

pub(in crate::command) fn lock(args: LockArgs) -> Result<u8, PassError> {
    let request = request::from_pass_args(Some(&args.pipeline), args.passes)?;
    let update = trust::lock(&plugins::registry(), &request)?;
    show::print_result(&update, args.json, |update| show::print(&render(update)));
    Ok(0)
}

fn render(update: &LockUpdate) -> String {
    let columns = ["plugin", "version", "abi", "origin", "change"];
    let table = TextTable::from_rows(columns, update.plugins.iter().map(row));
    let is_locked = |plugin: &&Locked| plugin.change != LockChange::Removed;
    let count = update.plugins.iter().filter(is_locked).count();
    format!(
        "{}{}: {} locked for {}\n",
        table.within(show::columns()).render(),
        show::safe(&update.file.display().to_string()),
        show::counted(count as u64, "plugin"),
        update.platform
    )
}

fn row(locked: &Locked) -> [String; 5] {
    let plugin = locked.plugin.clone();
    let change = match (locked.change, &locked.old_version) {
        (_, Some(old)) => format!("was {old}"),
        (LockChange::Added, _) => "added".to_owned(),
        (LockChange::Updated, _) => "updated".to_owned(),
        (LockChange::Unchanged, _) => String::new(),
        (LockChange::Removed, _) => "removed".to_owned(),
    };
    [
        plugin.name,
        plugin.version,
        plugin.abi,
        plugin.origin,
        change,
    ]
}
