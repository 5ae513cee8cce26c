//! Watches a running process: `cargo run -p plimsoll-probe --example watch -- PID SECONDS`.

use std::time::Duration;

use plimsoll_probe::Watch;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let pid = words.next().ok_or("name a process")?.parse()?;
    let seconds = words.next().ok_or("say for how many seconds")?.parse()?;
    let watch = Watch::start(pid, Duration::from_millis(100))?;
    std::thread::sleep(Duration::from_secs(seconds));
    println!("{:#?}", watch.finish());
    Ok(())
}
