//! Several hosts in one process: they share the library of a plugin, which is loaded once.

use passdock_abi as abi;
use passdock_plugin_api::prelude::*;

fn nothing(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

plugin! {
    name: "shared",
    passes: [function "shared.transform.Nothing" => nothing],
}

/// A host without any functions.
fn host() -> &'static abi::Host {
    Box::leak(Box::new(abi::Host {
        abi: abi::ABI,
        ir: abi::IR,
        ..abi::Host::EMPTY
    }))
}

/// Attaches the plugin and returns the address of its table.
fn attach(host: &'static abi::Host) -> usize {
    let mut attach_info = abi::Attach::EMPTY;
    // SAFETY: a valid host table, which is never freed.
    let table = unsafe { (PLUGIN.entry())(host, &mut attach_info) };
    assert_eq!(table.is_null(), attach_info.reason.len > 0);
    table as usize
}

#[test]
fn all_hosts_get_the_same_table() {
    let attach_all = || (0..16).map(|_| attach(host())).collect::<Vec<_>>();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(attach_all)).collect();
    let mut tables = attach_all();
    for thread in threads {
        tables.extend(thread.join().unwrap());
    }
    tables.dedup();
    assert_eq!(tables.len(), 1);
    assert_ne!(tables[0], 0);
}

#[test]
fn host_with_other_abi_major_is_rejected() {
    let mut other = *host();
    other.abi.major += 1;
    assert_eq!(attach(Box::leak(Box::new(other))), 0);
}
