// Forms that write the command line: fields in words for the tasks, the options of its examples for any other command, and
// all options under "All options".

const NO_FIELDS = new Set(['help', 'explain', 'plot', 'report', 'set-var', 'get', 'format', 'check', 'write']);
const SHARED = { chip: 'hw', count: 'hw', length: 'seq' };

class Forms {
  // `changed(words, run)` is called at every change; `commands` is the program's table; `others` is for all options.
  constructor(element, others, commands, files, changed) {
    Object.assign(this, { element, others, commands, files, changed, fields: new Map(), sliders: new Map(), name: null });
    for (const form of [element, others]) form.addEventListener('submit', (event) => event.preventDefault());
  }

  get machines() {
    return this.commands.names.hardware ?? [];
  }

  // Shows the form of a command, filled in from its words.
  show(words) {
    this.words = words;
    if (words[0] !== this.name || !this.fields.size) this.build(words[0]);
    for (const [name, field] of this.fields) {
      if (field === document.activeElement) continue;
      if (field.type === 'checkbox') field.checked = optionIn(words, name) !== null;
      else field.value = fieldIn(words, name, this.machines);
    }
    this.slide();
  }

  // Takes the values of what is not given from an answer.
  know(layout) {
    const all = quantitiesOf(layout);
    this.taken = (name) => all.get(frontOf(all, DEFAULTS[name] ?? name) + (DEFAULTS[name] ?? name));
    for (const [name, field] of this.fields) {
      const text = this.taken(name)?.text;
      if (text && field.options) field.options[0].text = text;
      else if (FIELDS[name]) field.placeholder = text ?? '';
    }
    this.slide();
  }

  // Marks the fields of options that an answer lacks.
  want(options) {
    for (const [name, field] of this.fields) field.setAttribute('aria-invalid', options.split(/\W+/).includes(SHARED[name] ?? name));
  }

  // Moves the sliders to where their fields are.
  slide() {
    for (const [name, slider] of this.sliders) {
      const { value, placeholder } = this.fields.get(name);
      const number = /^\d+$/.test(value) ? Number(value) : this.taken?.(name)?.value;
      if (slider !== document.activeElement && number > 0) slider.value = Math.log2(number);
      slider.setAttribute('aria-valuetext', value || placeholder);
    }
  }

  build(name) {
    const command = this.commands.named(name);
    this.name = name;
    this.taken = null;
    this.fields.clear();
    this.sliders.clear();
    this.element.replaceChildren();
    this.others.replaceChildren();
    if (!command) return;
    const usual = TASKS[name]?.[2].split(' ') ?? command.options.map((option) => option.name)
      .filter((each) => !NO_FIELDS.has(each) && command.examples.some(({ line }) => `${line} `.includes(` --${each} `)));
    const shown = new Set([...NO_FIELDS, ...usual, ...usual.map((each) => SHARED[each])]);
    const others = command.options.filter((option) => !shown.has(option.name));
    const all = make('details', {}, make('summary', {}, 'All options'));
    all.addEventListener('toggle', () => this.fillOthers(all, others), { once: true });
    this.element.append(make('div', { class: 'fields' }, usual.map((each) => this.field(this.commands.option(name, SHARED[each] ?? each),
      each))));
    this.others.append(all);
  }

  fillOthers(details, options) {
    details.append(make('div', { class: 'fields' }, options.map((option) => this.field(option, option.name))));
    this.show(this.words);
  }

  field(option, name) {
    const id = `field-${name}`;
    const [label, unit, low, high] = FIELDS[name] && TASKS[this.name] ? FIELDS[name] : [`--${name}`];
    const control = this.control(option, id, unit);
    this.fields.set(name, control);
    const change = () => {
      const text = (each) => this.fields.get(each)?.value.trim();
      const value = control.type === 'checkbox' ? control.checked || '' : high || name === 'tokens' ? text(name).replace(/[, ](?=\d{3})/g, '') : text(name);
      this.words = withField(this.words, name, value, { chip: text('chip'), count: text('count') });
      this.slide();
      this.changed(this.words, false);
    };
    control.addEventListener('input', change);
    control.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.changed(this.words, true); });
    const plain = unit !== undefined;
    return make('div', { class: plain ? 'field plain' : 'field' }, make('label', { for: id }, label, unit ? make('small', {}, ` ${unit}`) : null),
      control, high ? this.slider(name, label, low, high, control, change) : plain ? null : make('small', { id: `${id}-help` }, option.help));
  }

  // A slider over powers of two, which writes its field.
  slider(name, label, low, high, control, change) {
    const slider = make('input', { type: 'range', min: low, max: high, value: low, 'aria-label': `${label}, slider`, oninput: () => {
      control.value = 2 ** slider.value;
      change();
    } });
    this.sliders.set(name, slider);
    return slider;
  }

  control(option, id, unit) {
    const about = { id, name: option.name, 'aria-describedby': unit === undefined ? `${id}-help` : null };
    if (!option.value) return make('input', { type: 'checkbox', ...about });
    if (option.choices) return make('select', about, make('option', { value: '' }, option.default ?? 'automatic'),
      option.choices.map((choice) => make('option', { value: choice }, choice)));
    const values = this.commands.valuesOf(option);
    const list = values.length || option.file ? `${id}-values` : null;
    const input = make('input', { type: 'text', ...about, list, spellcheck: 'false', autocapitalize: 'off',
      placeholder: option.default ?? (unit === undefined ? option.value : '') });
    if (!list || id === 'field-count') return input;
    input.addEventListener('focus', () => this.offer(option, list));
    // A browser offers what goes with the text that stands there: at the arrow, all.
    input.addEventListener('pointerdown', ({ offsetX }) => {
      if (offsetX > input.clientWidth - 30) [input.placeholder, input.value] = [input.value, ''];
    });
    input.addEventListener('blur', () => this.show(this.words));
    this.element.append(make('datalist', { id: list }));
    return input;
  }

  offer(option, list) {
    const names = option.file ? this.files.names() : [];
    byId(list).replaceChildren(...[...names, ...this.commands.valuesOf(option)].map((value) => make('option', { value })));
  }
}
