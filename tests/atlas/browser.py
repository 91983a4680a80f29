"""A headless Chromium, driven over the pipe of its DevTools protocol: nothing but the standard library and the browser."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise SystemExit("no Chromium was found (Debian: chromium)")
        self.profile = tempfile.mkdtemp()
        read_by_browser, self.to_browser = os.pipe()
        self.from_browser, written_by_browser = os.pipe()

        def connect():  # the browser reads from 3 and writes to 4; these numbers may be in use, so step aside first
            a, b = os.dup(read_by_browser), os.dup(written_by_browser)
            while a <= 4: a = os.dup(a)
            while b <= 4: b = os.dup(b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--disable-background-networking", "--remote-debugging-pipe",
             "--user-data-dir=" + self.profile],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_by_browser)
        os.close(written_by_browser)
        self.count, self.rest, self.events = 0, b"", []
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                raise SystemExit("the browser ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, parameters=None):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width, height, scheme):
        self.send("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.send("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.events.clear()
        self.send("Page.navigate", {"url": url})
        end = time.time() + 20
        while self.run("document.readyState") != "complete":
            if time.time() > end:
                raise SystemExit("the page did not load in 20 s")
            time.sleep(0.05)

    def run(self, script):
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise SystemExit(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def press(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent",
                      {"type": kind, "key": key, "code": key, **({"text": text} if text and kind == "keyDown" else {}),
                       "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}.get(key, 0)})

    def mouse(self, x, y, click=False):
        self.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests that left the disk."""
        self.run("0")
        found = []
        for event in self.events:
            what, facts = event.get("method"), event.get("params", {})
            if what == "Runtime.exceptionThrown":
                found.append("exception: " + facts["exceptionDetails"].get("exception", {}).get("description", "?"))
            elif what == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning"):
                found.append("console: " + str(facts["args"]))
            elif what == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
                found.append("log: " + facts["entry"]["text"])
            elif what == "Network.requestWillBeSent" and not facts["request"]["url"].startswith(("file:", "data:")):
                found.append("request: " + facts["request"]["url"])
        return found

    def screenshot(self, path, whole=True):
        data = self.send("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole, **(
            {"clip": {"x": 0, "y": 0, "width": self.run("innerWidth"), "height": self.run("document.documentElement.scrollHeight"), "scale": 1}} if whole else {})})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
