// The reader's own files: the page reads them, and every command sees them under their names.

class Files {
  constructor(element, engine, { use, cases }) {
    Object.assign(this, { element, engine, use, own: new Map(), cases });
    this.input = make('input', { type: 'file', multiple: true, id: 'add-files', class: 'offscreen',
      onchange: () => this.add(this.input.files) });
    this.list = make('ul', { class: 'own' });
    this.said = make('div', { role: 'status', 'aria-live': 'polite' });
    element.append(make('details', {}, make('summary', {}, 'Your own files'),
      make('p', {}, 'Drop a model or machine (JSON), a launch script or recipe, or measured runs (CSV) on this page, or ', make('label', { for: 'add-files', class: 'link' }, 'choose files'),
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
    for (const file of files) {
      const name = file.name.replace(/[^\w.+-]/g, '_');
      this.own.set(name, new Uint8Array(await file.arrayBuffer()));
      await this.look(name);
    }
    this.input.value = '';
  }

  // Shows the program's errors for a config, and offers what a file may be; a task takes a model, a machine or a launch at once.
  async look(name) {
    this.element.querySelector('details').open = true;
    const done = name.endsWith('.json') ? await this.engine.run(['lint', name], { files: this.all() }).promise : { code: 0 };
    if (!done) return;
    this.said.replaceChildren(done.code ? make('pre', { class: 'errors', role: 'alert' }, done.stderr || done.stdout)
      : make('p', {}, `${name} is read.`));
    this.show();
    const what = /\.(sh|ya?ml|py|toml)$/.test(name) ? 'from' : { model: 'model', hardware: 'hw' }[/correct (\w+) file/.exec(done.stdout)?.[1]];
    if (what && byId('field-chip')) this.use(what, name);
  }

  row(name) {
    const uses = name.endsWith('.csv') ? [['validate', 'Compare with the estimates']]
      : [...name.endsWith('.json') ? [['model', 'Use as the model'], ['hw', 'Use as the machine']] : [], ['from', 'Use as the launch']];
    return make('li', {}, make('code', {}, name), ` ${this.own.get(name).length} bytes `,
      uses.map(([what, text]) => button(text, () => this.use(what, name))),
      button('Remove', () => { this.own.delete(name); this.show(); }, { class: 'quiet', 'aria-label': `Remove ${name}` }));
  }

  show() {
    this.list.replaceChildren(...this.names().map((name) => this.row(name)));
  }
}
