// The exercise book to work through: a question, the command that answers it, room for one's own answer, and the answer
// with its derivation on request.

// The keys of a case whose answers are numbers.
function numbersOf(each) {
  return Object.keys(each.expect ?? {}).filter((key) => typeof each.expect[key] === 'number');
}

class Book {
  constructor(element, engine) {
    Object.assign(this, { element, engine, chapters: {}, files: {}, done: new Set() });
    try {
      this.done = new Set(JSON.parse(localStorage.scaleplan ?? '[]'));
    } catch { /* a browser without storage, or another's text in it */ }
  }

  // Records that a case was answered.
  keep(id) {
    this.done.add(id);
    try {
      localStorage.scaleplan = JSON.stringify([...this.done]);
    } catch { /* without storage, until the page is closed */ }
    this.count();
  }

  count() {
    for (const link of this.element.querySelectorAll('[data-chapter]')) {
      const cases = this.chapters[link.dataset.chapter];
      link.lastChild.textContent = ` ${cases.filter((each) => this.done.has(each.id)).length}/${cases.length}`;
    }
    for (const each of this.element.querySelectorAll('.exercise')) each.classList.toggle('done', this.done.has(each.id.slice(5)));
  }

  load() {
    this.chapters = JSON.parse(new TextDecoder().decode(carried.cases));
    for (const [name, cases] of Object.entries(this.chapters)) {
      cases.forEach((each, i) => { each.id = `${name}-${i + 1}`; }); // the book's own are not carried (build.mjs)
      this.files[`textbook/${name}.json`] = new TextEncoder().encode(JSON.stringify(cases));
    }
  }

  // The chapter of a case; the first chapter if there is no such case.
  find(id) {
    const names = Object.keys(this.chapters);
    return names.find((name) => this.chapters[name].some((each) => each.id === id)) ?? names[0];
  }

  // Shows a chapter by its name or by a case in it.
  show(name) {
    const chapter = this.chapters[name] ? name : this.find(name);
    const cases = this.chapters[chapter];
    const links = Object.keys(this.chapters).map((each) => make('a', { href: `#exercises/${each}`, 'data-chapter': each,
      'aria-current': each === chapter ? 'page' : null }, each, make('small')));
    this.element.replaceChildren(make('h2', {}, 'Exercises'), make('p', {}, 'Worked cases of scaling textbooks and papers. ' +
      'Answer first, then look: the command gives the number, and the derivation shows how it follows.'),
    make('nav', { 'aria-label': 'Chapters', class: 'chapters' }, links),
    ...cases.map((each) => this.exercise(each)));
    this.count();
    const seen = new IntersectionObserver((found) => found.filter((each) => each.isIntersecting).forEach(({ target }) => {
      seen.unobserve(target);
      this.name(cases.find((each) => `case-${each.id}` === target.id), target);
    }));
    for (const each of this.element.querySelectorAll('.exercise')) seen.observe(each);
    if (chapter !== name) byId(`case-${name}`)?.scrollIntoView();
  }

  exercise(each) {
    const answer = make('div', { class: 'solution', 'aria-live': 'polite' });
    const line = lineOf(each.args);
    const keys = Object.keys(each.expect ?? {});
    return make('article', { id: `case-${each.id}`, class: 'exercise' }, make('h3', {}, each.question),
      make('p', { class: 'source' }, `${each.id} · ${each.source}`),
      numbersOf(each).slice(0, 1).map((key) => this.attempt(each, key)),
      make('div', { class: 'tools' }, button('Show the answer', () => this.solve(each, keys, answer)),
        make('a', { href: `#${encodeURI(line)}` }, `scaleplan ${line}`)), answer);
  }

  // Says which number is asked for, in the words of the command that answers.
  async name(each, article) {
    const [key] = numbersOf(each);
    if (!key || each.exit) return;
    const done = await this.engine.run([...each.args, '--format', 'layout'], { files: this.files, onprogress() {} }).promise;
    const asked = done?.code === 0 && quantitiesOf(JSON.parse(done.stdout)).get(key);
    if (asked) article.querySelector('label').textContent = `Your ${asked.label} (${key}) `;
  }

  // A field for one's own answer to a number: right within two per cent, else how far off.
  attempt(each, key) {
    const id = `try-${each.id}`;
    const told = make('output', { for: id });
    const input = make('input', { id, type: 'text', size: 14, autocomplete: 'off', onkeydown: (event) => {
      if (event.key === 'Enter') check();
    } });
    const check = () => {
      const times = typedNumber(input.value, key) / each.expect[key];
      told.textContent = Number.isNaN(times) ? 'A number is needed, such as 4.9e13 or 49T.' : Math.abs(times - 1) <= 0.02 ? 'Right.'
        : `Not yet: ${times <= 0 || !Number.isFinite(times) ? 'far off' : times > 2 ? `${digits(times)} times too large`
          : times < 0.5 ? `${digits(1 / times)} times too small` : `${digits(100 * Math.abs(times - 1))} % too ${times > 1 ? 'large' : 'small'}`}.`;
      if (told.textContent === 'Right.') this.keep(each.id);
    };
    return make('p', { class: 'attempt' }, make('label', { for: id }, 'Your answer '), input, ' ', button('Check', check), ' ', told);
  }

  async solve(each, keys, answer) {
    const asked = keys.length && !each.exit ? [...each.args, `--explain=${keys.join(',')}`] : each.args;
    const done = await this.engine.run(asked, { files: this.files }).promise;
    if (!done) return;
    answer.replaceChildren(make('pre', { class: 'wide', tabindex: 0 }, (done.stdout || done.stderr).trimEnd()),
      ...[each.note, each.why].filter(Boolean).map((text) => make('p', {}, text)));
  }
}
