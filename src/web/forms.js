// Forms that write the command line: the most common options, and all others under "All options".

const FIRST_FIELDS = {
  fit: ['model', 'hw', 'batch', 'seq', 'precision', 'remat', 'tokens', 'against'],
  step: ['model', 'hw', 'batch', 'tp', 'pp', 'cp', 'ep', 'zero', 'micro-batch', 'remat', 'schedule', 'framework'],
  search: ['model', 'hw', 'batch', 'seq', 'fix', 'only', 'top', 'objective'],
  memory: ['model', 'hw', 'precision', 'zero', 'dp', 'tp', 'pp', 'batch', 'remat'],
  roofline: ['hw', 'matmul', 'model', 'batch', 'dtype', 'from'],
  batch: ['hw', 'model', 'batch', 'overlap', 'dtype'],
  pipeline: ['stages', 'microbatches', 'schedule', 'chunks', 'forward', 'backward', 'efficiency'],
  serve: ['model', 'hw', 'input', 'output', 'concurrency', 'tp', 'weights', 'kv', 'engine'],
};

// The default values of a form.
const FIRST_LINES = {
  fit: 'fit --model llama3-70b --hw h100-512',
  step: 'step --model llama3-70b --hw h100-512 --tp 8 --pp 4',
  search: 'search --model llama3-70b --hw h100-512',
  memory: 'memory --model llama3-8b --hw h100-8 --zero 1 --dp 8',
  roofline: 'roofline --hw h100 --matmul 512x8192x28672',
  batch: 'batch --hw v5p-4096 --batch 3M',
  pipeline: 'pipeline --pp 4 --microbatches 8',
  serve: 'serve --model llama3-70b --hw h100-8',
};

class Forms {
  // `changed(words)` is called at every change; `commands` is the program's table.
  constructor(element, commands, files, changed) {
    Object.assign(this, { element, commands, files, changed, fields: new Map(), name: null });
    element.addEventListener('submit', (event) => event.preventDefault());
  }

  // Shows the form of a command, filled in from its words.
  show(words) {
    this.words = words;
    if (words[0] !== this.name) this.build(words[0]);
    for (const [name, field] of this.fields) {
      if (field === document.activeElement) continue;
      const value = optionIn(words, name);
      if (field.type === 'checkbox') field.checked = value !== null;
      else field.value = value === null || value === true ? '' : value;
    }
  }

  build(name) {
    const command = this.commands.named(name);
    this.name = name;
    this.fields.clear();
    this.element.replaceChildren();
    if (!command) return;
    const usual = (FIRST_FIELDS[name] ?? []).map((each) => this.commands.option(name, each)).filter(Boolean);
    const hidden = new Set(['help', 'explain', 'plot', 'report', 'output', 'set-var', 'get', 'format', ...usual.map((each) => each.name)]);
    const others = command.options.filter((option) => !hidden.has(option.name));
    const all = make('details', {}, make('summary', {}, usual.length ? 'All options' : 'Options'));
    all.addEventListener('toggle', () => this.fillOthers(all, others), { once: true });
    const form = make('details', { open: this.open ?? !matchMedia('(max-width: 40rem)').matches }, make('summary', {}, 'Form'),
      make('div', { class: 'fields' }, usual.map((option) => this.field(option))), all);
    form.addEventListener('toggle', () => { this.open = form.open; });
    this.element.append(usual.length ? form : all);
  }

  fillOthers(details, options) {
    details.append(make('div', { class: 'fields' }, options.map((option) => this.field(option))));
    this.show(this.words);
  }

  field(option) {
    const id = `field-${option.name}`;
    const control = this.control(option, id);
    this.fields.set(option.name, control);
    control.addEventListener('input', () => {
      const value = control.type === 'checkbox' ? control.checked : control.value.trim();
      this.words = withOption(this.words, option.name, value === false ? '' : value);
      this.changed(this.words, false);
    });
    control.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.changed(this.words, true); });
    return make('div', { class: 'field' }, make('label', { for: id }, `--${option.name}`), control,
      make('small', { id: `${id}-help` }, option.help));
  }

  control(option, id) {
    const about = { id, name: option.name, 'aria-describedby': `${id}-help` };
    if (!option.value) return make('input', { type: 'checkbox', ...about });
    if (option.choices) return make('select', about, make('option', { value: '' }, option.default ?? ''),
      option.choices.map((choice) => make('option', { value: choice }, choice)));
    const values = this.commands.valuesOf(option);
    const list = values.length || option.file ? `${id}-values` : null;
    const input = make('input', { type: 'text', ...about, list, spellcheck: 'false', autocapitalize: 'off',
      placeholder: option.default ?? option.value });
    if (!list) return input;
    input.addEventListener('focus', () => this.offer(option, list));
    this.element.append(make('datalist', { id: list }));
    return input;
  }

  offer(option, list) {
    const names = option.file ? this.files.names() : [];
    byId(list).replaceChildren(...[...names, ...this.commands.valuesOf(option)].map((value) => make('option', { value })));
  }
}
