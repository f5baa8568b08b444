// The reader's own files: the page reads them, and every command sees them under their names.

const USES = { model: 'Use as the model', hw: 'Use as the machine', from: 'Use as the launch', input: 'Use as the requests',
  validate: 'Compare with the estimates' };

class Files {
  constructor(element, engine, { use, cases }) {
    Object.assign(this, { element, engine, use, own: new Map(), kinds: new Map(), cases });
    this.input = make('input', { type: 'file', multiple: true, id: 'add-files', class: 'offscreen',
      onchange: () => this.add(this.input.files) });
    this.list = make('ul', { class: 'own' });
    this.said = make('div', { role: 'status', 'aria-live': 'polite' });
    element.append(make('details', {}, make('summary', {}, 'Your own files'),
      make('p', {}, 'Drop a model or machine (JSON), a launch script or recipe, measured runs or requests (CSV) on this page, or ', make('label', { for: 'add-files', class: 'link' }, 'choose files'),
        this.input, '. A Hugging Face config.json works as a model.'), this.said, this.list));
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => this.drop(event));
  }

  drop(event) {
    event.preventDefault();
    if (event.dataTransfer.files.length) this.add(event.dataTransfer.files);
  }

  names() {
    return [...this.own.keys()];
  }

  // All files of a run: the reader's, and the textbook's cases under textbook/.
  all() {
    return { ...Object.fromEntries(this.own), ...this.cases.files };
  }

  async add(files) {
    for (const file of files) await this.look(this.take(file.name, new Uint8Array(await file.arrayBuffer())));
    this.input.value = '';
  }

  // Keeps a file under a name that is one word; returns the name.
  take(path, bytes) {
    const name = path.replace(/[^\w.+-]/g, '_');
    this.own.set(name, bytes);
    return name;
  }

  // What a file is, by its content: `use` is the command or the option that takes it, `said` what is wrong with it.
  async kindOf(name) {
    const run = async (...words) => await this.engine.run(words, { files: this.all() }).promise ?? { stdout: '', stderr: '' };
    const measured = `Measurements become a profile in a shell: scaleplan calibrate ${name} --hw CHIP -o mine.json. Drop that here.`;
    const [head] = new TextDecoder().decode(this.own.get(name)).split('\n', 1);
    if (/\.[ct]sv$/.test(name)) return /\bop\b/.test(head) ? { said: measured } : { use: /\bmodel\b/.test(head) ? 'validate' : 'input' };
    const linted = name.endsWith('.json') && await run('lint', name);
    const kind = linted && /correct (\w+) file/.exec(linted.stdout)?.[1];
    if (kind) return { use: { hardware: 'hw' }[kind] ?? kind };
    const { code, stderr } = await run('step', '--from', name, '--hw', 'h100-8');
    const other = /use `(\w+) --from/.exec(stderr)?.[1];
    if (other || code < 2 || / --[a-z]/.test(stderr)) return { use: 'from', command: other ?? 'step' };
    return { said: (linted ? linted.stderr || linted.stdout : stderr) + (/\.(log|txt|out)$/.test(name) ? measured.replace(name, `--log ${name} --from LAUNCH`) : ''),
      wrong: true };
  }

  // Says what a file is, and uses it in a task.
  async look(name) {
    this.element.querySelector('details').open = true;
    const kind = await this.kindOf(name);
    this.kinds.set(name, kind);
    this.said.replaceChildren(make(kind.wrong ? 'pre' : 'p', kind.wrong ? { class: 'errors', role: 'alert' } : {}, kind.said ?? `${name} is read.`));
    this.show();
    if (kind.use && byId('field-chip')) this.use(kind, name);
  }

  row(name) {
    const kind = this.kinds.get(name);
    return make('li', {}, make('code', {}, name), ` ${this.own.get(name).length} bytes `,
      kind?.use && button(USES[kind.use] ?? `Use as --${kind.use}`, () => this.use(kind, name)),
      button('Save', () => save(name, this.own.get(name)), { 'aria-label': `Save ${name}` }),
      button('Remove', () => { this.own.delete(name); this.show(); }, { class: 'quiet', 'aria-label': `Remove ${name}` }));
  }

  show() {
    this.list.replaceChildren(...this.names().map((name) => this.row(name)));
  }
}
