// The page as its readers use it: forms by keyboard, pictures, links, files, errors, print.
import assert from 'node:assert';
import { after, before, test } from 'node:test';
import { answered, open, runNative, startBrowser } from './browser.mjs';
import { inkOf, movesSideways, paleTexts } from './look.mjs';

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

async function on(line, run, options) {
  const opened = await open(browser, line, options);
  await run(opened.tab, opened);
  assert.deepEqual(opened.faults, []);
  await opened.close();
}

async function ask(tab, line) {
  await tab.fill('#command', line);
  await tab.press('#command', 'Escape');
  await tab.press('#command', 'Enter');
  await answered(tab, line);
}

// Presses Tab until an element has the focus.
async function tabTo(tab, selector) {
  for (let i = 0; i < 120; i++) {
    if (await tab.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    await tab.keyboard.press('Tab');
  }
  assert.fail(`Tab never reaches ${selector}`);
}

async function typeOver(tab, text) {
  await tab.keyboard.press('Control+A');
  await tab.keyboard.type(text);
}

// A task's own field, and what is typed there.
const FORMS = {
  fit: ['count', '64', '--hw h100-64', /^(Yes|No)/], step: ['tp', '4', '--tp 4', /it fits/], search: ['chip', 'h200', '--hw h200-64', /per step with/],
  serve: ['input', '2048', '--input 2048', /^Yes/], rl: ['prompts', '64', '--prompts 64', /per step/],
};

test('each form, by keyboard alone', () => on('', async (tab) => {
  for (const [name, [field, value, option, verdict]] of Object.entries(FORMS)) {
    await tab.focus('h1 ~ nav a');
    await tabTo(tab, `header a[data-page=${name}]`);
    await tab.keyboard.press('Enter');
    await tab.waitForFunction((wanted) => page.forms.name === wanted, name);
    await tabTo(tab, `#field-${field}`);
    await typeOver(tab, value);
    const line = await tab.inputValue('#command');
    assert.ok(line.startsWith(name) && line.includes(option), line);
    await tab.keyboard.press('Enter');
    await tab.waitForFunction((wanted) => decodeURIComponent(location.hash).includes(wanted), option);
    await answered(tab, line);
    assert.match(await tab.textContent('#answer .verdict'), verdict);
    const native = await runNative(line.split(' '));
    assert.ok(native.code <= 1, native.stderr);
  }
}));

test('every command stands on a page, and its examples open with a form', () => on('commands', async (tab) => {
  const { stdout } = await runNative(['help', '--format', 'json']);
  const commands = JSON.parse(stdout);
  assert.deepEqual(await tab.locator('#book h3').allTextContents(), commands.map((command) => command.name));
  await tab.click('#book a:has-text("scaleplan train --model")');
  await tab.waitForSelector('#field-mfu');
  assert.equal(await tab.inputValue('#field-model'), 'llama3-70b');
  assert.equal(await tab.textContent('label[for=field-mfu]'), '--mfu');
  await answered(tab);
  assert.match(await tab.textContent('#answer .verdict'), /days/);
}));

const PICTURES = {
  'roofline --hw h100 --matmul 512x8192x28672': 'g path', 'memory --model llama3-8b --hw h100-8': 'g rect',
  'pipeline --pp 4 --microbatches 8': 'g rect', 'search --model llama3-70b --hw h100-512': 'g path',
  'batch --hw v5p-4096': 'g path', 'serve --model llama3-70b --hw h100-8': 'g path', 'step --model llama3-8b --hw h100-8': 'g rect',
};

// Texts of the picture that lie on another, outside or are cut, as Chromium draws them; keys of the page that are wider than it.
function crowded(tab) {
  return tab.evaluate(() => {
    const svg = document.querySelector('.plot svg');
    const all = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBBox() }));
    const meet = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 0.5 &&
      Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 5;
    const { width, height } = svg.viewBox.baseVal;
    const keys = [...document.querySelectorAll('#answer :is(.key, .facts, .plot)')].filter((key) => key.scrollWidth > key.clientWidth + 1);
    return [...all.filter(({ text, box }, i) => box.x < -0.5 || box.x + box.width > width + 0.5 || box.y < -1 || box.y + box.height > height + 1 ||
      text.endsWith('…') || all.slice(0, i).some((other) => meet(box, other.box))).map(({ text }) => text), ...keys.map((key) => key.outerHTML)];
  });
}

async function picture(tab, line, shape) {
  await ask(tab, line);
  await tab.waitForSelector('.plot svg');
  assert.ok(await tab.locator(`.plot svg ${shape}`).count() > 0, line);
  assert.deepEqual(await crowded(tab), [], line);
  assert.ok(inkOf(await tab.locator('figure').screenshot()) > 0.005, line);
  const unpointed = await tab.textContent('.tip');
  await tab.focus('.plot');
  await tab.keyboard.press('ArrowRight');
  assert.notEqual(await tab.textContent('.tip'), unpointed, line);
  assert.equal(await tab.locator('.plot svg .marker').count(), 1, line);
  assert.equal(await tab.locator('.plot svg[role=img] > title').count(), 1, line);
}

test('each picture has its elements, is not blank, and reacts', () => on('', async (tab) => {
  for (const [line, shape] of Object.entries(PICTURES)) await picture(tab, line, shape);
}));

test('pictures on a phone: no text lies on another', () => on('', async (tab) => {
  for (const [line, shape] of Object.entries(PICTURES)) await picture(tab, line, shape);
}, { viewport: { width: 390, height: 844 } }));

// A picture of every other command that draws.
const DRAWN = ['fit --model llama3-70b --hw h100-512', 'fit --model llama3-405b --hw h100-8', 'roofline --model llama3-8b --batch 256 --hw h100',
  'rl --model llama3-8b --hw h100-16 --prompts 32', 'flops --model deepseek-v3', 'need --model llama3-70b --hw h100-256 --batch 512x8192 --for step=8s',
  'sensitivity --model llama3-70b --hw h100-256 --batch 512x8192', "shard 'bf16[8,2048]' I_X,J_Y --mesh X=4,Y=2,Z=2",
  'comm --op ar --bytes 256MB --hw h100-64', 'train --model llama2-13b --hw v5p-4096 --batch 1M --tokens 1T --curve',
  'scaling --flops 5.76e23 --law chinchilla-3', 'lr --lr 6e-4 --min-lr 6e-5 --warmup 2000 --total-steps 100k --step 30000', 'show training-compute',
  'serve --model deepseek-v3 --hw h200-32 --front', 'memory --model llama3-8b --hw h100-8 --zero 1 --dp 8', 'pipeline --pp 8 --microbatches 20 --schedule dualpipe',
  'step --model deepseek-v3 --hw h100-2048 --tp 1 --ep 64 --pp 16', 'search --model llama3-8b --hw h100-64 --batch 256x8192 --top 60'];
const NEED_FILES = ['validate', 'sweep']; // or draw rows

test('every command draws for a phone, with no text cut or on another', () => on('', async (tab) => {
  const { stdout } = await runNative(['help', '--format', 'json']);
  const drawing = JSON.parse(stdout).filter(({ options }) => options.some(({ name }) => name === 'plot')).map(({ name }) => name);
  const seen = new Set([...Object.keys(PICTURES), ...DRAWN].map((line) => line.split(' ')[0]));
  assert.deepEqual(drawing.filter((name) => !seen.has(name) && !NEED_FILES.includes(name)), []);
  for (const line of DRAWN) {
    await ask(tab, line);
    await tab.waitForSelector('.plot svg');
    assert.deepEqual(await crowded(tab), [], line);
  }
}, { viewport: { width: 390, height: 844 } }));

test('memory: gauge, picture and verdict say one number', () => on('memory --model llama3-8b --hw h100-8 --zero 1 --dp 8', async (tab) => {
  await answered(tab);
  const native = await runNative(['memory', '--model', 'llama3-8b', '--hw', 'h100-8', '--zero', '1', '--dp', '8']);
  const [, whole, tensors] = /yes: (\S+ GB) of .*\ntensors +(\S+ GB)/.exec(native.stdout);
  assert.equal(await tab.textContent('.gauge b .number'), whole);
  assert.equal(await tab.textContent('.gauge small'), `per chip, ${tensors} of it tensors`);
  const texts = await tab.locator('.plot text').allTextContents();
  assert.ok(texts.includes(whole) && !texts.includes(tensors), `${texts}`);
}));

test('pointing at a box of the timeline says what it is', () => on('pipeline --pp 2 --microbatches 2', async (tab) => {
  const box = await tab.locator('.plot svg g[fill="#E69F00"] rect').nth(1).boundingBox();
  await tab.mouse.move(box.x + box.width / 2, box.y + 4);
  assert.match(await tab.textContent('.tip'), /stage \d: backward/);
  const copy = await tab.evaluate(() => { const svg = document.querySelector('.plot svg'); return svg.getBoundingClientRect().width; });
  assert.ok(copy > 300);
}));

test('a number shows how it follows, and the focus comes back', () => on('fit --model llama3-70b --hw h100-512', async (tab) => {
  await tab.click('.number[data-key="plans.dp.step_s"]');
  await tab.waitForSelector('#explain:not([hidden])');
  const shown = await tab.textContent('#explain pre');
  const native = await runNative(['fit', '--model', 'llama3-70b', '--hw', 'h100-512', '--explain=plans.dp.step_s', '--derive']);
  assert.equal(shown, native.stdout.replace(/^ *this has no derivation.*\n/m, '')); // beside a formula it is no help
  await tab.keyboard.press('Escape');
  assert.equal(await tab.evaluate(() => document.activeElement.dataset.key), 'plans.dp.step_s');
  await tab.keyboard.press('ArrowRight');
  assert.ok(await tab.evaluate(() => document.activeElement.matches('.number') &&
    document.activeElement.dataset.key !== 'plans.dp.step_s'));
}));

test('completion offers commands, options, models and machines', () => on('', async (tab) => {
  for (const [typed, wanted] of [['se', 'search'], ['fit --ba', '--batch'], ['fit --model llama3-7', 'llama3-70b'], ['fit --hw v5', 'v5p'],
    ['step --schedule z', 'zb-h1']]) {
    await tab.fill('#command', '');
    await tab.type('#command', typed);
    const offers = await tab.locator('#offers b').allTextContents();
    assert.ok(offers.includes(wanted), `${typed}: ${offers}`);
  }
  await tab.fill('#command', '');
  await tab.type('#command', 'fit --model llama3-8');
  await tab.keyboard.press('ArrowDown');
  assert.equal(await tab.getAttribute('#command', 'aria-activedescendant'), 'offer0');
  await tab.keyboard.press('Enter');
  assert.match(await tab.inputValue('#command'), /^fit --model llama3-8b ?$/);
}));

test('a wrong model is the line of the shell, with the focus back', () => on('', async (tab) => {
  await ask(tab, 'fit --model lama3-70b --hw h100-512');
  const native = await runNative(['fit', '--model', 'lama3-70b', '--hw', 'h100-512']);
  assert.equal(await tab.textContent('.errors'), native.stderr);
  assert.match(native.stderr, /did you mean/);
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'command');
  await ask(tab, 'search --model llama3-8b --hw h100-8 --pareto');
  assert.equal(await tab.textContent('.errors'), (await runNative(['search', '--model', 'llama3-8b', '--hw', 'h100-8', '--pareto'])).stderr);
}));

function drop(tab, name, text) {
  return tab.evaluate(([file, content]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([content], file));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, [name, text]);
}

test('a dropped broken file says what is wrong, a whole one is a model', () => on('', async (tab) => {
  await drop(tab, 'broken.json', '{"name": "x", "layers": }');
  await tab.waitForSelector('#files .errors');
  assert.match(await tab.textContent('#files .errors'), /broken\.json:1:\d+/);
  const evil = '<img src=x onerror=window.harmed=1>';
  await drop(tab, 'mine.json', JSON.stringify({ name: evil, layers: 12, d_model: 768, d_ff: 3072, heads: 12, vocab: 50257 }));
  await tab.waitForSelector('#files .own li:nth-child(2)');
  await tab.click('#files li:nth-child(2) button');
  await tab.waitForFunction(() => location.hash.includes('mine.json'));
  await answered(tab);
  assert.ok((await tab.textContent('#answer')).includes(evil));
  assert.equal(await tab.evaluate(() => `${document.images.length} ${window.harmed}`), '0 undefined');
}));

test('markup in a link, an option or a name stays text', () => on("fit --model '<img src=x onerror=window.harmed=1>' --hw h100-8", async (tab) => {
  await answered(tab);
  assert.ok((await tab.textContent('.errors')).includes('<img src=x'));
  assert.equal(await tab.evaluate(() => `${document.images.length} ${window.harmed}`), '0 undefined');
}));

test('a link opened anew shows the same answer', () => on('', async (tab) => {
  await ask(tab, 'fit --model llama2-13b --hw v5p-4096 --batch 3M --constants textbook');
  const text = await tab.textContent('#answer .report');
  const again = await browser.newPage();
  await again.goto(tab.url());
  await answered(again);
  assert.equal(await again.textContent('#answer .report'), text);
  assert.match(text, /^(Yes|No)/);
  await again.close();
}));

test('two commands side by side', () => on('fit --model llama3-70b --hw h100-512', async (tab) => {
  await tab.click('text=Compare with another');
  await tab.waitForSelector('.answers.n2');
  await ask(tab, 'fit --model llama3-70b --hw b200-512');
  await tab.waitForFunction(() => document.querySelectorAll('.which')[1]?.textContent.includes('b200'));
  const boxes = await Promise.all([0, 1].map((i) => tab.locator('.one').nth(i).boundingBox()));
  assert.ok(boxes[1].x > boxes[0].x + 200 && Math.abs(boxes[0].y - boxes[1].y) < 2);
  assert.deepEqual(await tab.locator('.plot svg').evaluateAll((all) => all.map((svg) => Math.round(svg.clientWidth / svg.viewBox.baseVal.width * 10))),
    [10, 10]); // as large as by themselves
  assert.match(await tab.textContent('.difference'), /best\.step_s/);
  assert.doesNotMatch(await tab.textContent('.difference'), /scaleplan step/);
  await tab.click('text=Stop comparing >> nth=0');
  await tab.waitForSelector('.answers.n1');
}));

test('copies: shell command, JSON, SVG', () => on('roofline --hw h100 --matmul 8x8x8', async (tab) => {
  await tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } }));
  const copied = async (name) => {
    await tab.evaluate(() => { window.copied = null; });
    await tab.click(`button:text-is("${name}")`);
    await tab.waitForFunction(() => window.copied);
    return tab.evaluate(() => window.copied);
  };
  assert.equal(await copied('Copy'), 'scaleplan roofline --hw h100 --matmul 8x8x8');
  const native = await runNative(['roofline', '--hw', 'h100', '--matmul', '8x8x8', '--format', 'json']);
  assert.equal(await copied('Copy as JSON'), native.stdout);
  assert.match(await copied('Copy SVG'), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
}));

test('exercises: the answer is hidden until it is asked for', () => on('exercises/chips', async (tab) => {
  assert.equal(await tab.locator('.exercise').count() > 10, true);
  assert.equal(await tab.locator('.solution pre').count(), 0);
  const told = async (typed) => {
    await tab.fill('#try-chips-1', typed);
    await tab.press('#try-chips-1', 'Enter');
    return tab.textContent('#case-chips-1 output');
  };
  assert.equal(await told('98.304T'), 'Not yet: 100 % too large.');
  assert.equal(await told('196.608T'), 'Not yet: 4 times too large.');
  assert.equal(await told('24.576T'), 'Not yet: 50 % too small.');
  assert.equal(await told('12.288T'), 'Not yet: 4 times too small.');
  assert.equal(await told('-1'), 'Not yet: far off.');
  assert.equal(await told('about 50'), 'A number is needed, such as 4.9e13 or 49T.');
  assert.equal(await tab.locator('#case-chips-1.done').count(), 0);
  assert.equal(await told('49T'), 'Right.');
  await tab.click('#case-chips-1 button:has-text("Show the answer")');
  await tab.waitForSelector('#case-chips-1 pre');
  assert.match(await tab.textContent('#case-chips-1 pre'), /49152000000000/);
}));

test('exercises: in the order of the book, and what is right is kept', () => on('exercises', async (tab) => {
  const chapters = () => tab.locator('.chapters a').allTextContents();
  assert.deepEqual((await chapters()).slice(0, 4).map((text) => text.split(' ')[0]), ['roofline', 'chips', 'sharding', 'flops']);
  assert.equal((await chapters())[0], 'roofline 0/19');
  await tab.waitForSelector('#case-roofline-1 label:has-text("Your T_math (t_math_s)")'); // a label of the answer, not a key
  await tab.fill('#try-roofline-1', '1.0107 ms'); // 1e12 FLOPs at 989.4 TFLOP/s
  await tab.press('#try-roofline-1', 'Enter');
  assert.equal((await chapters())[0], 'roofline 1/19');
  await tab.reload();
  await tab.waitForSelector('.done');
  assert.equal((await chapters())[0], 'roofline 1/19');
}));

const LOOKED_AT = ['fit --model llama3-70b --hw h100-512', 'step --model llama3-70b --hw h100-512 --tp 8',
  'search --model llama3-70b --hw h100-512', 'memory --model llama3-8b --hw h100-8', 'batch --hw v5p-4096',
  'pipeline --pp 4 --microbatches 8', 'roofline --hw h100 --matmul 512x8192x28672', 'serve --model llama3-70b --hw h100-8',
  'exercises/serving', 'commands', 'rl --model llama3-8b --hw h100-16 --prompts 32', 'fit --model nothing --hw h100-8'];

async function looksWell(tab, line) {
  for (const colorScheme of ['light', 'dark']) {
    await tab.emulateMedia({ colorScheme });
    assert.deepEqual(await paleTexts(tab, 4.5), [], `${line}, ${colorScheme}`);
    assert.ok(inkOf(await tab.screenshot()) > 0.005, line);
  }
  await tab.setViewportSize({ width: 400, height: 800 });
  assert.equal(await movesSideways(tab), false, line);
  await tab.evaluate(() => document.querySelectorAll('#others details').forEach((each) => { each.open = true; }));
  await tab.waitForFunction(() => document.querySelectorAll('#others details:not([open])').length === 0);
  assert.equal(await movesSideways(tab), false, `${line}, with all options`);
}

test('contrast of 4.5, nothing blank, and 400 pixels are wide enough', async () => {
  for (const line of LOOKED_AT)
    await on(line, (tab) => looksWell(tab, line), { viewport: { width: 1200, height: 2400 } });
});

// Pictures that are higher than wide stay on the screen.
const PRINTED = ['fit --model llama3-70b --hw h100-512 --tokens 15T', 'step --model llama3-70b --hw h100-512 --zero 3',
  'search --model llama3-70b --hw h100-512', 'serve --model llama3-70b --hw h100-8 --input 2048 --output 512',
  'rl --model llama3-8b --hw h100-16 --prompts 32', 'fit --model llama3-405b --hw h100-8'];

test('print is one page, which has the answer and leaves the controls out', async () => {
  for (const line of PRINTED)
    await on(line, async (tab) => {
      await answered(tab, line);
      const pdf = (await tab.pdf({ format: 'A4' })).toString('latin1');
      assert.deepEqual([...pdf.matchAll(/\/Count (\d+)/g)].map((match) => match[1]), ['1'], line);
      await tab.emulateMedia({ media: 'print' });
      for (const [part, seen] of Object.entries({ '#fields': false, '#copy': false, '#command': true, '.verdict': true, '.gauge': true, '.lines': true }))
        assert.equal(await tab.isVisible(part), seen, `${line}: ${part}`);
    });
});

test('without JavaScript there is a message', async () => {
  const { tab, close } = await open(browser, '', { javaScriptEnabled: false });
  assert.match(await tab.textContent('noscript'), /needs JavaScript/);
  assert.equal(await tab.isVisible('#line'), false);
  await close();
});
