#!/usr/bin/env python3
"""Opens reports in headless Chromium and checks what only a browser can tell.

    tests/browser/check.py FILE.html [FILE.html …] [--shots FOLDER]

For each file, on a phone (390 × 844) and on a desk (1280 × 800), light and dark: it loads, nothing
is written to the console, nothing is requested from anywhere else, the verdict stands on the first
screen, nothing reaches beyond the right edge, no script ran. With --shots, pictures and a PDF are
left in FOLDER. Needs python3 and chromium, nothing else; speaks the DevTools protocol over a pipe,
so that nothing listens on a port. Ends with 0 = fine, 1 = a check failed, 3 = cannot run here.
"""

import argparse
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
]
SCREENS = {"phone": (390, 844, True), "desk": (1280, 800, False)}
PATIENCE = 60  # Seconds for any one answer: a busy machine is not a broken report.

# What the page is asked. `wide` names elements that stick out to the right, except in parts that
# scroll by themselves and in parts that are there for screen readers only. Sizes are compared with
# the screen that was asked for: a phone's own viewport grows with a page that is too wide.
MEASURE = """(() => {
  const verdict = document.querySelector('h1#verdict');
  const box = verdict && verdict.getBoundingClientRect();
  const scrolls = e => e.closest('.wide') !== null;
  const clipped = e => e && (getComputedStyle(e).clipPath !== 'none' || clipped(e.parentElement));
  const wide = [...document.body.querySelectorAll('*')]
    .filter(e => !scrolls(e) && !clipped(e) && e.getBoundingClientRect().right > SCREEN_WIDTH + 1)
    .slice(0, 5).map(e => e.tagName + '.' + (e.getAttribute('class') || ''));
  return JSON.stringify({
    title: document.title,
    verdict: verdict && verdict.textContent.trim(),
    top: box && box.top, bottom: box && box.bottom, left: box && box.left,
    scrollWidth: document.documentElement.scrollWidth, wide,
    headings: document.querySelectorAll('h1').length,
    background: getComputedStyle(document.body).backgroundColor,
    scripts: document.scripts.length,
  });
})()"""


def high(fd):
    """The same file under a number from 10 up, closed for programs that are started."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


class Browser:
    """One Chromium; commands go down a pipe, answers and events come up another."""

    def __init__(self, program, profile):
        # The protocol's pipes are descriptors 3 and 4 of the browser. All ends are moved out of the
        # way first, since any of them may have been given one of these numbers.
        down_read, self.down, self.up, up_write = map(high, (*os.pipe(), *os.pipe()))
        os.dup2(down_read, 3)
        os.dup2(up_write, 4)
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"], pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (down_read, up_write, 3, 4):
            os.close(fd)
        self.buffer = b""
        self.next_id = 0
        self.session = None
        self.events = []

    def send(self, method, **params):
        """Sends a command and returns its result; events that come meanwhile are kept."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.down, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        """Waits for an event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.up], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.up, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("Chromium does not answer" if not ready else "Chromium ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"]["value"]

    def attach(self):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        # A dialogue would stop the page, and the test with it: it is reported instead.
        self.send("Page.addScriptToEvaluateOnNewDocument",
                  source="window.alert = text => console.error('dialogue: ' + text)")

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def look(browser, file, screen, scheme, shots):
    """Opens `file` once and returns what is wrong with it."""
    width, height, mobile = SCREENS[screen]
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=2 if mobile else 1, mobile=mobile)
    browser.send("Emulation.setEmulatedMedia", media="",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events.clear()
    url = file.resolve().as_uri()
    browser.send("Page.navigate", url=url)
    browser.wait_for("Page.loadEventFired")
    page = json.loads(browser.evaluate(MEASURE.replace("SCREEN_WIDTH", str(width))))
    # One more round trip: what the page started late has been reported by then.
    browser.evaluate("new Promise(r => setTimeout(r, 50)) && 1")

    wrong = []
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if asked != url and not asked.startswith("data:"):
                wrong.append(f"asks for {asked}")
        elif method == "Log.entryAdded":
            wrong.append(f"console: {params['entry']['text']}")
        elif method == "Runtime.consoleAPICalled":
            said = " ".join(str(a.get("value", "")) for a in params["args"])
            wrong.append(f"console: {said}")
        elif method == "Runtime.exceptionThrown":
            wrong.append(f"exception: {params['exceptionDetails']['text']}")
    if not page["title"]:
        wrong.append("has no title")
    if page["headings"] != 1:
        wrong.append(f"has {page['headings']} main headings instead of one")
    if page["scripts"]:
        wrong.append(f"has {page['scripts']} scripts; none are needed")
    if not page["verdict"]:
        wrong.append("has no verdict")
    elif not 0 <= page["top"] < page["bottom"] <= height:
        wrong.append(f"verdict at {page['top']:.0f}–{page['bottom']:.0f} px is not within the first "
                     f"{height} px")
    if page["scrollWidth"] > width or page["wide"]:
        wrong.append(f"is {page['scrollWidth']} px wide on a {width} px screen: {page['wide']}")
    channels = [int(c) for c in page["background"].strip("rgba()").split(",")[:3]]
    if sum(channels) > 96 * 3 if scheme == "dark" else sum(channels) < 224 * 3:
        wrong.append(f"background {page['background']} is not {scheme}")
    if shots:
        stem = f"{file.stem}-{screen}-{scheme}"
        for name, whole in (("", False), ("-whole", True)):
            picture = browser.send("Page.captureScreenshot", captureBeyondViewport=whole,
                                   **({"clip": clip(browser)} if whole else {}))
            (shots / f"{stem}{name}.png").write_bytes(base64.b64decode(picture["data"]))
        if screen == "desk" and scheme == "light":
            pdf = browser.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
            (shots / f"{file.stem}.pdf").write_bytes(base64.b64decode(pdf["data"]))
    return wrong


def clip(browser):
    size = browser.send("Page.getLayoutMetrics")["cssContentSize"]
    return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}


def self_test(browser):
    """What is wrong with the checks themselves: a page that breaks every rule has to show it."""
    broken = pathlib.Path(__file__).with_name("broken.html")
    found = " | ".join(look(browser, broken, "phone", "light", None))
    expected = ["asks for http://127.0.0.1:9/", "console: console", "dialogue", "exception",
                "no title", "2 main headings", "1 scripts", "not within the first", "px wide on",
                "is not light"]
    return [f"a page with `{word}` passes" for word in expected if word not in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.html")
    parser.add_argument("--shots", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not program:
        print("there is no Chromium here: apt-get install chromium, or set CHROMIUM to one",
              file=sys.stderr)
        return 3
    missing = [str(file) for file in arguments.files if not file.is_file()]
    if missing:
        print(f"no such file: {', '.join(missing)}", file=sys.stderr)
        return 3
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.attach()
            for sentence in self_test(browser):
                failures += 1
                print(f"FAIL the check itself: {sentence}")
            for file in arguments.files:
                for screen in SCREENS:
                    for scheme in ("light", "dark"):
                        wrong = look(browser, file, screen, scheme, arguments.shots)
                        failures += len(wrong)
                        print(f"{'FAIL' if wrong else 'ok  '} {file.name} {screen} {scheme}")
                        for sentence in wrong:
                            print(f"       {sentence}")
        finally:
            browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
