//! The program finds libhwloc beside itself first, so that the tarball of `./x dist` needs no package.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib/plimsoll");
}
