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
fn each_host_gets_its_own_stable_table() {
    let hosts: Vec<usize> = (0..16).map(|_| host() as *const _ as usize).collect();
    let attach_all = move |from: usize| {
        let mut tables = vec![0; hosts.len()];
        for at in (0..hosts.len()).map(|at| (at + from) % hosts.len()) {
            // SAFETY: the address of a host that was leaked above.
            tables[at] = attach(unsafe { &*(hosts[at] as *const abi::Host) });
        }
        tables
    };
    let threads: Vec<_> = (0..4)
        .map(|from| {
            let attach_all = attach_all.clone();
            std::thread::spawn(move || attach_all(from))
        })
        .collect();
    let tables = attach_all(8);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), tables);
    }
    let mut different = tables;
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 16);
    assert_ne!(different[0], 0);
}

#[test]
fn host_with_other_abi_major_is_rejected() {
    let mut other = *host();
    other.abi.major += 1;
    assert_eq!(attach(Box::leak(Box::new(other))), 0);
}
