// The page in the distribution's Chromium, without a network, and what goes wrong in it.
import { createRequire } from 'node:module';
import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';

export const { SCALEPLAN_PROGRAM: program, SCALEPLAN_SOURCE: source, SCALEPLAN_PAGE: file } = process.env;
const { chromium } = createRequire(`${process.env.SCALEPLAN_MODULES}/`)('playwright-core');

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export async function startBrowser() {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
}

// Opens the page with a command as its address; `faults` collects errors, and requests beside that of the page. `counts`: the
// processor time of the main thread too, which the debugger that counts it makes longer.
export async function open(browser, line = '', options = {}, counts = false) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const tab = await context.newPage();
  const faults = [];
  tab.on('console', (message) => { if (['error', 'warning'].includes(message.type())) faults.push(message.text()); });
  tab.on('pageerror', (error) => faults.push(error.stack));
  tab.on('request', (request) => { if (!/^(file|blob):/.test(request.url())) faults.push(`request: ${request.url()}`); });
  const debug = counts && await context.newCDPSession(tab);
  await (debug && debug.send('Performance.enable', { timeDomain: 'threadTicks' }));
  const start = performance.now();
  await tab.goto(`${pathToFileURL(file)}${line && `#${encodeURIComponent(line)}`}`);
  if (options.javaScriptEnabled === false) return { tab, faults, close: () => context.close() };
  await tab.waitForSelector('#answer .report, #answer pre, #book h2');
  const firstMs = performance.now() - start;
  const firstBusyMs = debug && 1000 * (await debug.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ThreadTime').value;
  await tab.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
  return { tab, faults, firstMs, firstBusyMs, close: () => context.close() };
}

// Runs words in the page's engine: {code, ms, stdout, stderr}.
export function runInPage(tab, words, files = {}) {
  return tab.evaluate(([asked, own]) => {
    const bytes = Object.entries(own).map(([name, text]) => [name, new TextEncoder().encode(text)]);
    return page.engine.run(asked, { files: { ...page.book.files, ...Object.fromEntries(bytes) } }).promise
      .then(({ code, ms, stdout, stderr }) => ({ code, ms, stdout, stderr }));
  }, [words, files]);
}

// The same in a shell, in the folder of the tests, as one thread.
export function runNative(words) {
  return new Promise((resolve) => {
    const options = { cwd: `${source}/tests`, env: { LC_ALL: 'C.UTF-8', OMP_NUM_THREADS: '1' }, maxBuffer: 1 << 26 };
    const start = performance.now();
    const child = execFile(program, words, options, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, ms: performance.now() - start, stdout, stderr }));
    child.stdin.end();
  });
}

// Waits for the answer to what was asked last. One that is stale is of before: it stays while a half typed name is refused.
export async function answered(tab, line = null) {
  await tab.waitForFunction((asked) => !page.running && (asked === null || page.shown === asked) &&
    document.querySelector('#answer:not(.stale) .one'), line);
}
