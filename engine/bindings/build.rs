//! Passes the settings of this build to the extension module, for the heading of the benchmarks.

use std::{env, fs};

const MANIFEST: &str = "../Cargo.toml";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={MANIFEST}");
    let profile = variable("PROFILE");
    // Cargo has no variable for this setting of a profile.
    let replaced_by = format!("CARGO_PROFILE_{}_LTO", profile.to_uppercase());
    println!("cargo:rerun-if-env-changed={replaced_by}");
    let lto = env::var(replaced_by).ok().or_else(|| find_lto(&profile));
    let is_guided = variable("CARGO_ENCODED_RUSTFLAGS").contains("profile-use");
    for (name, value) in [
        ("PROFILE", profile.as_str()),
        ("OPT_LEVEL", &variable("OPT_LEVEL")),
        ("LTO", lto.as_deref().unwrap_or("false")),
        ("PROFILE_GUIDED", if is_guided { "true" } else { "false" }),
        ("TARGET", &variable("TARGET")),
    ] {
        println!("cargo:rustc-env=DESTAGE_BUILD_{name}={value}");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The setting `lto` of a profile in the manifest, which has one setting per line.
fn find_lto(profile: &str) -> Option<String> {
    let manifest = fs::read_to_string(MANIFEST).expect("the workspace has a manifest");
    let heading = format!("[profile.{profile}]");
    manifest
        .lines()
        .skip_while(|line| line.trim() != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "lto")
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}
