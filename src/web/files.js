// The reader's own files: the page reads them, and every command sees them under their names.

class Files {
  constructor(element, engine, { use, cases }) {
    Object.assign(this, { element, engine, use, own: new Map(), cases });
    this.input = make('input', { type: 'file', multiple: true, id: 'add-files', class: 'offscreen',
      onchange: () => this.add(this.input.files) });
    this.list = make('ul', { class: 'own' });
    this.said = make('div', { role: 'status', 'aria-live': 'polite' });
    element.append(make('details', {}, make('summary', {}, 'Your own models, machines and runs'),
      make('p', {}, 'Drop a JSON or CSV file on this page, or ', make('label', { for: 'add-files', class: 'link' }, 'choose files'),
        this.input, '. They stay on this page. A Hugging Face config.json works as a model.'), this.said, this.list));
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

  // Shows the program's errors for a file, and offers the kinds that it may be.
  async look(name) {
    this.element.querySelector('details').open = true;
    const isTable = name.endsWith('.csv');
    const done = isTable ? { code: 0, stdout: '', stderr: '' }
      : await this.engine.run(['lint', name], { files: this.all() }).promise;
    if (!done) return;
    const wrong = done.code === 0 ? null : make('pre', { class: 'errors', role: 'alert' }, done.stderr || done.stdout);
    this.said.replaceChildren(wrong ?? make('p', {}, `${name} is read${isTable ? '' : ', and nothing is wrong with it'}.`));
    this.show();
  }

  row(name) {
    const uses = name.endsWith('.csv') ? [['validate', 'Compare with the estimates']]
      : [['model', 'Use as --model'], ['hw', 'Use as --hw']];
    return make('li', {}, make('code', {}, name), ` ${this.own.get(name).length} bytes `,
      uses.map(([what, text]) => button(text, () => this.use(what, name))),
      button('Remove', () => { this.own.delete(name); this.show(); }, { class: 'quiet', 'aria-label': `Remove ${name}` }));
  }

  show() {
    this.list.replaceChildren(...this.names().map((name) => this.row(name)));
  }
}
