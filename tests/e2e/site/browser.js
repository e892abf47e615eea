// Chromium for the tests: one JSON command a line on stdin, one JSON answer a line on stdout.
"use strict";
const path = require("node:path");
const readline = require("node:readline");

const modules = path.join(__dirname, "..", "..", "node", "node_modules");
const { chromium } = require(path.join(modules, "playwright-core"));
const axe = require.resolve(path.join(modules, "axe-core", "axe.min.js"));

let browser;
let context;
let page;
let seen;

const commands = {
  // A fresh visitor. Everything the page asks for or complains about is kept for "seen".
  async open({ url, width = 1280, height = 900, scheme = "light", script = true }) {
    await context?.close();
    context = await browser.newContext({
      viewport: { width, height }, colorScheme: scheme, javaScriptEnabled: script,
    });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    seen = { requests: [], problems: [], dialogs: [] };
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("console", (message) => {
      if (message.type() !== "log") seen.problems.push(message.text());
    });
    page.on("pageerror", (error) => seen.problems.push(String(error)));
    page.on("dialog", (dialog) => { seen.dialogs.push(dialog.message()); dialog.dismiss(); });
    await page.goto(url);
  },
  seen: () => seen,
  click: ({ selector }) => page.click(selector),
  fill: ({ selector, text }) => page.fill(selector, text),
  choose: ({ selector, value }) => page.selectOption(selector, value),
  press: ({ key }) => page.keyboard.press(key),
  back: () => page.goBack(),
  async reload() { await page.reload(); },
  url: () => page.url(),
  media: ({ media }) => page.emulateMedia({ media }),
  evaluate: ({ expression }) => page.evaluate(expression),
  // Not waitForFunction: it evaluates strings inside the page, which the page's policy refuses.
  async wait({ expression }) {
    const end = Date.now() + 15_000;
    while (!(await page.evaluate(expression))) {
      if (Date.now() > end) throw new Error(`it never became true: ${expression}`);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  },
  screenshot: ({ file }) => page.screenshot({ path: file, fullPage: true }).then(() => null),
  // axe runs in a world of its own, since the page's policy rightly refuses to load it.
  async axe() {
    const client = await context.newCDPSession(page);
    const { frameTree } = await client.send("Page.getFrameTree");
    const { executionContextId } = await client.send("Page.createIsolatedWorld", {
      frameId: frameTree.frame.id, worldName: "axe",
    });
    const run = async (expression) => {
      const { result, exceptionDetails } = await client.send("Runtime.evaluate", {
        expression, contextId: executionContextId, awaitPromise: true, returnByValue: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
      return result.value;
    };
    await run(require("node:fs").readFileSync(axe, "utf8") + ";0");
    return run(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).slice(0, 5).join(" | ")))`);
  },
};

(async () => {
  browser = await chromium.launch({
    executablePath: process.argv[2],
    // Chromium refuses its sandbox to root, and containers often have no user namespaces.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { command, ...rest } = JSON.parse(line);
    let answer;
    try {
      answer = { value: (await commands[command](rest)) ?? null };
    } catch (error) {
      answer = { error: String(error.stack ?? error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await browser.close();
})();
