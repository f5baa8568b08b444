// Times of the page, printed and not judged: from its address to the first verdict, from a key to a new one, and the processor time
// of the main thread until the first, which others on the machine change less.
//
//   SCALEPLAN_PAGE=build/web/scaleplan.html SCALEPLAN_MODULES=build/release/page-modules node tests/web/bench.mjs [RUNS]
import { loadavg } from 'node:os';
import { open, startBrowser } from './browser.mjs';
import { timesOf, verdictAfter, words } from './times.mjs';

const runs = Number(process.argv[2] ?? 9);
const browser = await startBrowser();
const busy = [];
const first = await timesOf(runs, async () => {
  const { firstMs, firstBusyMs, close } = await open(browser, '', {}, true);
  busy.push(firstBusyMs);
  await close();
  return firstMs;
});
const busyMs = await timesOf(runs, () => busy.pop());
console.log(`first verdict: ${words(first)}; main thread at work ${words(busyMs)}`);
for (const model of ['llama3-70b', 'deepseek-v3']) {
  const { tab, close } = await open(browser, `fit --model ${model} --hw h100-2048 --tokens 1T`);
  let count = 2048;
  const key = await timesOf(runs, () => verdictAfter(tab, 'field-count', `${count = count === 2048 ? 1024 : 2048}`));
  console.log(`key to verdict, ${model}: ${words(key)}`);
  await close();
}
console.log(`load average: ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
await browser.close();
