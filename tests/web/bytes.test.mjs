// The page's program answers with the bytes of the native one.
import assert from 'node:assert';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { open, runInPage, runNative, source, startBrowser } from './browser.mjs';

let browser;
let opened;
before(async () => {
  browser = await startBrowser();
  opened = await open(browser);
});
after(() => browser.close());

// Where an answer may differ, and why: nothing in the exercise book.
const EXCEPT = new Map();

async function compare(words, files = {}) {
  const [inPage, native] = await Promise.all([runInPage(opened.tab, words, files), runNative(words)]);
  return ['code', 'stdout', 'stderr'].filter((part) => inPage[part] !== native[part]);
}

test('every command of the exercise book', async () => {
  const files = readdirSync(`${source}/tests/textbook`).map((name) => `${source}/tests/textbook/${name}`);
  const { stdout: book } = await runNative(['check', ...files, '--book']);
  const lines = [...book.matchAll(/^```sh\n(scaleplan .*)\n```/gm)].map((match) => match[1]);
  assert.ok(lines.length > 250, `${lines.length} commands found`);
  const differ = [];
  for (const line of lines) {
    const words = await opened.tab.evaluate((text) => wordsOf(text), line);
    if ((await compare(words)).length && !EXCEPT.has(words[0])) differ.push(line);
  }
  assert.deepEqual(differ, []);
  console.log(`${lines.length} commands, the same bytes`);
});

test('all textbook files, as text and as JSON', async () => {
  const names = readdirSync(`${source}/tests/textbook`);
  assert.ok(names.length >= 14);
  for (const name of names)
    for (const format of ['text', 'json'])
      assert.deepEqual(await compare(['check', `textbook/${name}`, '--format', format],
        { [`textbook/${name}`]: readFileSync(`${source}/tests/textbook/${name}`, 'utf8') }), [], name);
});

test('commands of every kind, wrong ones too', async () => {
  const lines = ['fit --model llama3-70b --hw h100-512', 'step --model deepseek-v3 --hw h100-2048 --tp 1 --ep 64 --pp 16',
    'search --model llama3-8b --hw h100-64 --batch 256x8192', 'sweep step --model llama3-8b --hw h100-64 --tp 1..8:x2',
    'list --format csv', 'show h100', 'export --to megatron --model llama3-8b --hw h100-64 --tp 2',
    'fit --model lama3-70b --hw h100-8', 'fit --model llama3-70b --hw h100-12', 'fti', 'step --tp', 'help', 'fit --help',
    'memory --model llama3-8b --hw h100-8 --explain', 'check textbook/nothing.json'];
  for (const line of lines) assert.deepEqual(await compare(line.split(' ')), [], line);
});

test('launch files: the page names what they leave unread, though it knows harmless options only as numbers', async () => {
  for (const name of ['maxtext_llama2_70b.yml', 'megatron_gpt3_175b.sh', 'nanogpt_small.py', 'nemo_rl_base.yaml', 'neox_6b.yml',
    'openrlhf_ppo.sh', 'swift_full.sh', 'torchtitan_llama3_8b.toml', 'verl_grpo_fsdp.sh'].map((each) => `data/launches/${each}`)) {
    const files = { [name]: readFileSync(`${source}/tests/${name}`, 'utf8') };
    assert.deepEqual(await compare(['step', '--from', name, '--hw', 'h100-64', '--format', 'json'], files), [], name);
  }
  const later = 'torchrun pretrain_gpt.py --lr 1 --later-option 2 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 ' +
    '--seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --bf16 --vocab-size 32000';
  const { stdout } = await runInPage(opened.tab, ['step', '--from', 'a.sh', '--hw', 'h100-8', '--format', 'json'], { 'a.sh': later });
  assert.deepEqual(JSON.parse(stdout).notes.filter((note) => note.startsWith('not read')), ['not read: --later-option']);
});

test('help as JSON, except the descriptions of commands that need a shell', async () => {
  const words = ['help', '--format', 'json'];
  const [inPage, native] = (await Promise.all([runInPage(opened.tab, words), runNative(words)])).map((run) => JSON.parse(run.stdout));
  const shell = new Set(['check', 'merge', 'completion', 'calibrate', 'import']);
  for (const help of [inPage, native])
    for (const command of help.commands ?? help)
      if (shell.has(command.name)) { delete command.about; delete command.examples; }
  assert.deepEqual(inPage, native);
});

test('what a page cannot do says so', async () => {
  const plot = await runInPage(opened.tab, ['roofline', '--hw', 'h100', '--matmul', '8x8x8', '--plot', 'x.png']);
  assert.equal(plot.code, 4);
  assert.match(plot.stderr, /a page draws only .svg/);
  for (const words of [['merge', 'a.json'], ['completion', 'bash'], ['calibrate', 'a.csv'], ['import', 'a.json'],
    ['scaling', '--losses', '4,3,2,1,1,1,1,1'],
    ['step', '-'], ['check', 'a.json', '--sheet'], ['check', 'a.json', '--book']]) {
    const said = await runInPage(opened.tab, words);
    assert.deepEqual([said.code, said.stdout], [4, ''], words.join(' '));
    assert.match(said.stderr, /not available in the page: use the program in a shell/);
  }
});
