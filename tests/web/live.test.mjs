// The first screen: it answers while its fields change, with the program's own figures.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { answered, open, runNative, startBrowser } from './browser.mjs';

const axe = readFileSync(createRequire(`${process.env.SCALEPLAN_MODULES}/`).resolve('axe-core/axe.min.js'), 'utf8');
const LINES = ['', 'step --model llama3-70b --hw h100-512 --zero 3 --tokens 15T', 'search --model llama3-70b --hw h100-512',
  'serve --model llama3-70b --hw h100-8 --front', 'rl --model llama3-8b --hw h100-16 --prompts 32'];
const FIRST = 'fit --model llama3-70b --hw h100-512 --tokens 15T';

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

async function on(line, run, options) {
  const opened = await open(browser, line, options);
  await answered(opened.tab, line || FIRST);
  await run(opened.tab, opened);
  assert.deepEqual(opened.faults, []);
  await opened.close();
}

// The texts of quantities as a shell prints them.
async function textsOf(line) {
  const { stdout } = await runNative([...line.split(' '), '--format', 'layout']);
  return Object.fromEntries(JSON.parse(stdout).quantities.map((each) => [each.key, each]));
}

const text = (tab, selector) => tab.textContent(`#answer ${selector}`);

async function showsFigures(tab, line) {
  const shell = await textsOf(line);
  assert.equal(await text(tab, '.verdict'), shell.verdict.text);
  assert.equal(await text(tab, '.gauge b'), `${shell['best.device_bytes'].text} of ${shell.capacity_bytes.text}`);
  assert.equal(await text(tab, '.time b'), shell['expected.step_s'].text);
  // Memory is that of the verdict's plan, time that of the fastest: each says so.
  assert.equal(await text(tab, '.gauge small'), `per chip, with ${/^\w+: (.*?), \d/.exec(shell.verdict.text)[1]}`);
  const degrees = [...(await text(tab, '.time small')).matchAll(/([A-Z]P) (\d+)/g)].map(([, name, n]) => [name.toLowerCase(), Number(n)]);
  assert.deepEqual(degrees, ['dp', 'tp', 'pp', 'cp', 'ep'].map((name) => [name, shell[`expected.${name}`].value]).filter(([, n]) => n > 1));
  assert.deepEqual(await tab.locator('#answer .facts .number').allTextContents(),
    ['days', 'cost_usd', 'mfu', 'tokens_per_s'].map((key) => shell[`expected.${key}`].text));
  const widths = await tab.evaluate(() => ['.gauge .used', '.time .stack span'].map((part) =>
    document.querySelector(part).getBoundingClientRect().width / document.querySelector('.gauge .stack').getBoundingClientRect().width));
  assert.ok(Math.abs(widths[0] - shell['best.device_bytes'].value / shell.capacity_bytes.value) < 0.01, `${widths}`);
  assert.ok(Math.abs(widths[1] - shell['expected.time.matmul_s'].value / shell['expected.step_s'].value) < 0.03, `${widths}`);
}

test('what is typed changes the verdict, the figures, the command and the address, without Enter', () => on('', async (tab) => {
  await showsFigures(tab, FIRST);
  const before = await text(tab, '.verdict');
  for (const [field, typed, line] of [['count', '256', FIRST.replace('512', '256')], ['batch', '1024',
    `fit --model llama3-70b --hw h100-256 --tokens 15T --batch 1024x`], ['length', '4096', 'fit --model llama3-70b --hw h100-256 --tokens 15T ' +
    '--batch 1024x4096'], ['chip', 'b200', 'fit --model llama3-70b --hw b200-256 --tokens 15T --batch 1024x4096'],
  ['model', 'meta-llama/Llama-3.1-8B', 'fit --model meta-llama/Llama-3.1-8B --hw b200-256 --tokens 15T --batch 1024x4096'],
  ['batch', '4M', 'fit --model meta-llama/Llama-3.1-8B --hw b200-256 --tokens 15T --batch 4M --seq 4096']]) {
    await tab.click(`#field-${field}`);
    await tab.keyboard.press('Control+A');
    await tab.keyboard.type(typed);
    await answered(tab, line);
    assert.equal(await tab.inputValue('#command'), line);
    assert.equal(await tab.evaluate(() => decodeURIComponent(location.hash)), `#${line}`);
    assert.equal(await tab.evaluate(() => document.activeElement.id), `field-${field}`);
    await showsFigures(tab, line);
  }
  assert.notEqual(await text(tab, '.verdict'), before);
}));

test('sliders double and halve, by keyboard and by pointer', () => on('', async (tab) => {
  await tab.focus('#field-count ~ [type=range]');
  await tab.keyboard.press('ArrowRight');
  await answered(tab, FIRST.replace('512', '1024'));
  await tab.keyboard.press('ArrowLeft');
  await tab.keyboard.press('ArrowLeft');
  await answered(tab, FIRST.replace('512', '256'));
  assert.equal(await tab.inputValue('#field-count'), '256');
  const length = await tab.locator('#field-length ~ [type=range]').boundingBox();
  await tab.mouse.click(length.x + length.width / 2, length.y + length.height / 2);
  await answered(tab, `${FIRST.replace('512', '256')} --seq 16384`); // half way from 2^8 to 2^20
  await showsFigures(tab, `${FIRST.replace('512', '256')} --seq 16384`);
}));

test('what is stale is dimmed, and a newer input overrides an older one', () => on(`fit --model deepseek-v3 --hw h100-2048 --tokens 1T`, async (tab) => {
  await tab.fill('#field-count', '4096');
  const line = 'fit --model deepseek-v3 --hw h100-4096 --tokens 1T';
  await tab.waitForSelector('#answer.stale .gauge[data-new]'); // the memory is there before the search ends
  await tab.waitForTimeout(400);
  const opacity = (part) => tab.evaluate((one) => getComputedStyle(document.querySelector(`#answer ${one}`)).opacity, part);
  if (await tab.locator('#answer.stale').count()) assert.deepEqual([await opacity('.verdict'), await opacity('.time')], ['1', '0.4']);
  await tab.fill('#field-count', '512');
  await tab.fill('#field-model', 'llama3-8b');
  await answered(tab, line.replace('deepseek-v3', 'llama3-8b').replace('4096', '512'));
  assert.equal(await tab.locator('.stale').count(), 0);
  await showsFigures(tab, line.replace('deepseek-v3', 'llama3-8b').replace('4096', '512'));
}));

test('a half typed name says what is wrong, beside the last answer', () => on('', async (tab) => {
  const verdict = await text(tab, '.verdict');
  await tab.fill('#field-model', 'llama3-7');
  const native = await runNative(FIRST.replace('llama3-70b', 'llama3-7').split(' '));
  await tab.waitForSelector('#status .errors');
  assert.equal(await tab.textContent('#status .errors'), native.stderr);
  assert.equal(await text(tab, '.verdict'), verdict);
  assert.equal(await tab.locator('#answer.stale').count(), 1);
  await tab.fill('#field-model', 'llama3-8b');
  await answered(tab, FIRST.replace('llama3-70b', 'llama3-8b'));
  assert.equal(await tab.locator('.errors, .stale').count(), 0);
}));

test('tasks go on with the same problem', () => on('', async (tab) => {
  await tab.fill('#field-count', '64');
  await tab.fill('#field-model', 'llama3-8b');
  await answered(tab, 'fit --model llama3-8b --hw h100-64 --tokens 15T');
  await tab.click('text=How fast?');
  await answered(tab, 'step --model llama3-8b --hw h100-64 --zero 3 --tokens 15T');
  await tab.goBack();
  await answered(tab, 'fit --model llama3-8b --hw h100-64 --tokens 15T');
  assert.equal(await tab.inputValue('#field-count'), '64');
}));

test('the command line is one key away, fills the fields in, and leads to the answer', () => on('', async (tab) => {
  await tab.keyboard.press('/');
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'command');
  await tab.keyboard.press('Control+A');
  await tab.keyboard.type('fit --model qwen3-32b --hw rtx-4090-8 --batch 64x4096');
  await tab.keyboard.press('Escape');
  await tab.keyboard.press('Enter');
  await answered(tab, 'fit --model qwen3-32b --hw rtx-4090-8 --batch 64x4096');
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'answer');
  assert.deepEqual(await Promise.all(['model', 'chip', 'count', 'batch', 'length'].map((field) => tab.inputValue(`#field-${field}`))),
    ['qwen3-32b', 'rtx-4090', '8', '64', '4096']);
}));

test('the verdict is spoken, and every part has a heading', () => on('', async (tab) => {
  const verdict = await text(tab, '.verdict');
  await tab.waitForFunction((wanted) => document.getElementById('spoken').textContent.startsWith(wanted), verdict);
  assert.match(await tab.textContent('#spoken'), /Memory .* of .* per chip/);
  assert.equal(await tab.getAttribute('#spoken', 'role'), 'status');
  assert.deepEqual((await tab.locator('#answer :is(h2, h3)').allTextContents()).map((each) => each.slice(0, 7)),
    [verdict.slice(0, 7), 'Memory ', 'Time of', 'In full']);
  assert.equal(await tab.locator('#answer table > caption').count(), await tab.locator('#answer table').count());
}));

async function drop(tab, name, content) {
  await tab.evaluate(([file, lines]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([lines], file));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, [name, content]);
}

test('a config that is dropped is the model', () => on('', async (tab) => {
  await drop(tab, 'config.json', JSON.stringify({ architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 4096,
    intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256 }));
  await answered(tab, FIRST.replace('llama3-70b', 'config.json'));
  assert.equal(await tab.inputValue('#field-model'), 'config.json');
  const params = await tab.evaluate(() => page.answers[0].quantities.find((each) => each.key === 'params').value);
  assert.equal(params, 8030261248); // Llama 3 8B, by hand: 32 layers of 218,112,000, embeddings twice 525,336,576, norm 4096
}));

test('a launch script that is dropped is read, a link without its file asks for it', () => on('', async (tab) => {
  await drop(tab, 'train.sh', 'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 ' +
    '--seq-length 4096 --micro-batch-size 1 --global-batch-size 256 --tensor-model-parallel-size 2 --bf16');
  await answered(tab, 'step --from train.sh --hw h100-512');
  assert.match(await text(tab, '.verdict'), /per step/);
  const elsewhere = await open(browser, 'step --from train.sh --hw h100-512');
  assert.match(await elsewhere.tab.textContent('#answer'), /drop train\.sh on this page/);
  await elsewhere.close();
}));

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };

test('no finding of axe, on a desk and on a phone', async () => {
  const looked = [...LINES.map((line) => [line, PHONE]), ['', DESK], ['exercises', DESK], ['commands', DESK],
    ['fit --model nothing --hw h100-8', DESK], [`${FIRST}\n${FIRST.replace('h100', 'b200')}`, DESK]];
  for (const [line, options] of looked) {
    const { tab, close } = await open(browser, line, options);
    await tab.evaluate(() => document.querySelectorAll('details').forEach((each) => { each.open = true; }));
    await tab.waitForFunction(() => !document.getElementById('answer').classList.contains('stale'));
    await tab.evaluate(axe);
    const { violations } = await tab.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html]), [], `${line}, ${options.viewport.width}`);
    await close();
  }
});

test('the first screen is above the fold, and a thumb reaches everything on a phone', async () => {
  for (const line of LINES)
    for (const [width, height] of [[1280, 800], [390, 844]])
      await on(line, async (tab) => {
        const bottom = await tab.evaluate(() => document.querySelector('#answer .facts').getBoundingClientRect().bottom);
        assert.ok(bottom <= height, `${line}: ${bottom} of ${height}`);
        const small = await tab.evaluate(() => [...document.querySelectorAll('button, input, select, summary, nav a')]
          .filter((each) => each.checkVisibility() && !each.matches('.offscreen') && each.getBoundingClientRect().height < 44)
          .map((each) => each.outerHTML.slice(0, 80)));
        if (width < 400) assert.deepEqual(small, [], line);
      }, { viewport: { width, height } });
});
