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
  await tab.fill('#field-model', 'llama3-7'); // and is stale, when something else is asked
  await tab.waitForSelector('#status .errors');
  assert.equal(await tab.locator('#answer [data-new]').count(), 0);
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
  const [, meant] = /did you mean "(.*?)"/.exec(native.stderr);
  await tab.click(`text=Use ${meant}`);
  await answered(tab, FIRST.replace('llama3-70b', meant));
  assert.equal(await tab.inputValue('#field-model'), meant);
  assert.equal(await tab.locator('.errors, .stale').count(), 0);
}));

async function type(tab, field, typed) {
  await tab.click(`#field-${field}`);
  await tab.keyboard.press('Control+A');
  await (typed ? tab.keyboard.type(typed) : tab.keyboard.press('Delete'));
}

test('chips are counted with commas and words, and a chip may have a number in its name', () => on('', async (tab) => {
  await type(tab, 'count', '1,024 chips');
  await answered(tab, FIRST.replace('512', '1024'));
  await type(tab, 'tokens', '2,000,000,000');
  await answered(tab, FIRST.replace('512', '1024').replace('15T', '2000000000'));
  await type(tab, 'count', '');
  await type(tab, 'chip', 'a100-80gb');
  await answered(tab, FIRST.replace('h100-512', 'a100-80gb').replace('15T', '2000000000'));
  await type(tab, 'count', '8');
  await answered(tab, FIRST.replace('h100-512', 'a100-80gb-8').replace('15T', '2000000000'));
}));

test('the arrow of a field offers all names, not those like its own', () => on('', async (tab) => {
  const { x, y, width, height } = await tab.locator('#field-chip').boundingBox();
  await tab.mouse.click(x + width - 12, y + height / 2);
  assert.equal(await tab.inputValue('#field-chip'), '');
  assert.equal(await tab.getAttribute('#field-chip', 'placeholder'), 'h100');
  await tab.focus('#field-count');
  assert.equal(await tab.inputValue('#field-chip'), 'h100');
  assert.equal(await tab.inputValue('#command'), FIRST);
}));

// No degrees multiply to 1000 = 8 x 125 chips and divide 512 sequences; then days are those at a usual MFU.
test('without an expected step, days and cost are those of the verdict', () =>
  on('fit --model llama3-70b --hw mi300x-1000 --batch 512x8192 --tokens 15T', async (tab) => {
    const shell = await textsOf('fit --model llama3-70b --hw mi300x-1000 --batch 512x8192 --tokens 15T');
    assert.equal(shell['expected.days'], undefined);
    assert.deepEqual(await tab.locator('#answer .facts .number').allTextContents(),
      ['best.days_at_mfu', 'best.cost_at_mfu_usd', 'best.mfu'].map((key) => shell[key].text));
  }));

test('a command in an answer leads to its own', () => on('', async (tab) => {
  const command = (await textsOf(FIRST))['best.command'].text;
  await tab.click(`#answer a:text-is("${command}")`);
  await answered(tab, command.replace('scaleplan ', ''));
  assert.match(await text(tab, '.verdict'), /per step/);
}));

test('tasks go on with the same problem', () => on('', async (tab) => {
  await tab.fill('#field-count', '64');
  await tab.fill('#field-model', 'llama3-8b');
  await answered(tab, 'fit --model llama3-8b --hw h100-64 --tokens 15T');
  await tab.click('text=How fast?');
  await answered(tab, 'step --model llama3-8b --hw h100-64 --zero 3 --tokens 15T');
  await tab.click('text=Serve it');
  await answered(tab, 'serve --model llama3-8b --hw h100-8 --front');
  await tab.fill('#field-chip', 'b200');
  await answered(tab, 'serve --model llama3-8b --hw b200-8 --front');
  await tab.click('nav >> text=RL');
  await answered(tab, 'rl --model llama3-8b --hw b200-16 --prompts 32');
  await tab.click('text=Does it fit?');
  await answered(tab, 'fit --model llama3-8b --hw b200-64 --tokens 15T');
  await tab.goBack();
  await tab.goBack();
  await tab.goBack();
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

test('all options stand beside the answer', () => on('', async (tab) => {
  await tab.click('text=All options');
  await tab.fill('#field-price', '2.5');
  await answered(tab, `${FIRST} --price 2.5`);
  await tab.locator('#field-price').scrollIntoViewIfNeeded();
  const { y } = await tab.locator('.verdict').boundingBox();
  assert.ok(y >= 0 && y < 800, `${y}`);
  // 1.5e13 tokens for 512 devices at the rate of the answer, hours at 2.50 each
  const { value } = (await textsOf(FIRST))['expected.tokens_per_s'];
  assert.ok(Math.abs(await tab.evaluate(() => page.answers[0].quantities.find((each) => each.key === 'expected.cost_usd').value) /
    (15e12 / value / 3600 * 512 * 2.5) - 1) < 1e-3);
}, { viewport: { width: 1280, height: 800 } }));

test('what is noted beside an answer is no error', () => on('', async (tab) => {
  const line = 'sweep step --model llama3-8b --hw h100-64 --batch 256x8192 --tp 1..8:x2 --get step_s';
  const native = await runNative(line.split(' '));
  assert.match(native.stderr, /rows differ in settings left open/);
  await tab.fill('#command', line);
  await tab.press('#command', 'Enter');
  await answered(tab, line);
  assert.equal(await text(tab, '.notes'), native.stderr);
  assert.equal(await tab.locator('.errors').count(), 0);
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'answer');
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

const RECIPE = 'fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n';
const DROPPED = [
  ['serve.sh', 'vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 2 --max-model-len 8192\n', 'serve --from serve.sh --hw h100-8'],
  ['trace.csv', 'input,output,arrival\n100,200,0\n300,100,1.5\n2000,50,2\n', 'serve --model llama3-70b --hw h100-8 --front --input trace.csv'],
  ['mine.json', JSON.stringify({ name: 'mine', layers: 12, d_model: 768, d_ff: 3072, heads: 12, vocab: 50257 }), FIRST.replace('llama3-70b', 'mine.json')],
];

test('a file that is dropped is used as what it is', async () => {
  for (const [name, content, line] of DROPPED)
    await on('', async (tab) => {
      await drop(tab, name, content);
      await answered(tab, line);
      assert.match(await text(tab, '.verdict'), /^(Yes|No)/);
    });
});

test('measurements say how they become a profile, a launch what it lacks', () => on('', async (tab) => {
  await drop(tab, 'train.log', 'iteration 1/ 10 | elapsed time per iteration (ms): 1000.0 | lm loss: 3.0\n');
  await tab.waitForSelector('#files .errors');
  assert.match(await tab.textContent('#files .errors'), /scaleplan calibrate --log train\.log --from LAUNCH/);
  await drop(tab, 'kernels.csv', 'op,dtype,m,n,k,time_s\nmatmul,bf16,1024,4096,4096,6.8e-5\n');
  await tab.waitForFunction(() => document.querySelector('#files [role=status]').textContent.includes('calibrate kernels.csv'));
  await drop(tab, 'recipe.yaml', RECIPE);
  await answered(tab, 'step --from recipe.yaml --hw h100-512');
  assert.deepEqual(await tab.locator('[aria-invalid=true]').evaluateAll((fields) => fields.map(({ id }) => id)), ['field-model', 'field-batch', 'field-length']);
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'field-model');
  for (const [field, value] of [['model', 'llama3-8b'], ['batch', '512'], ['length', '4096']]) await tab.fill(`#field-${field}`, value);
  await answered(tab, 'step --from recipe.yaml --hw h100-512 --model llama3-8b --batch 512x4096');
  assert.equal(await tab.locator('[aria-invalid=true]').count(), 0);
  const saving = tab.waitForEvent('download');
  await tab.click('[aria-label="Save recipe.yaml"]');
  assert.equal(readFileSync(await (await saving).path(), 'utf8'), RECIPE);
}));

test('a link carries a small file with it', () => on('', async (tab) => {
  await drop(tab, 'mine.json', DROPPED[2][1]);
  await answered(tab, DROPPED[2][2]);
  await tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (link) => { window.copied = link; } } }));
  await tab.click('text=Copy link');
  const link = await (await tab.waitForFunction(() => window.copied)).jsonValue();
  const { y } = await tab.locator('#status:has-text("copied")').boundingBox(); // what is said is seen from the button
  assert.ok(y >= 0 && y < 900 && await tab.evaluate(() => scrollY > 0), `${y}`);
  const elsewhere = await open(browser, decodeURIComponent(link.split('#')[1]));
  await answered(elsewhere.tab, DROPPED[2][2]);
  assert.equal(await elsewhere.tab.textContent('.verdict'), await text(tab, '.verdict'));
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
        const boxes = await Promise.all(['nav [aria-current=page]', '#field-chip', '#field-count'].map((part) => tab.locator(part).boundingBox()));
        assert.ok(boxes[0].x >= 0 && boxes[0].x + boxes[0].width <= width, line);
        if (width > 400) assert.equal(boxes[1].y, boxes[2].y); // side by side
        const small = await tab.evaluate(() => [...document.querySelectorAll('button, input, select, summary, nav a')]
          .filter((each) => each.checkVisibility() && !each.matches('.offscreen') && each.getBoundingClientRect().height < 44)
          .map((each) => each.outerHTML.slice(0, 80)));
        if (width < 400) assert.deepEqual(small, [], line);
      }, { viewport: { width, height } });
});

test('the theme turns', () => on('', async (tab) => {
  const paper = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await tab.click('#theme');
  const light = await paper();
  await tab.click('#theme');
  assert.notEqual(await paper(), light);
}));
