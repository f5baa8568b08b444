// The page: connects its parts; the address holds the question, and the page shows its answer.

const PICTURE = 'picture.svg';

// Reads an address; one that this page did not make is shown as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

class Page {
  constructor() {
    this.engine = new Engine();
    this.commands = new Commands(this.engine);
    this.book = new Book(byId('book'), this.engine);
    this.files = new Files(byId('files'), this.engine, { use: (what, name) => this.useFile(what, name), cases: this.book });
    this.explain = new Explain(this.engine, this.files);
    this.input = byId('command');
    this.completion = new Completion(this.input, byId('offers'), this.commands, this.files);
    this.forms = new Forms(byId('fields'), this.commands, this.files, (words, run) => this.write(words, run));
    this.first = null; // the words of the answer that others are compared with
    this.answers = [];
    this.listen();
  }

  listen() {
    window.addEventListener('hashchange', () => this.open());
    byId('line').addEventListener('submit', (event) => { event.preventDefault(); this.ask(wordsOf(this.input.value)); });
    this.input.addEventListener('keydown', (event) => this.completion.key(event));
    for (const name of ['input', 'change'])
      this.input.addEventListener(name, () => this.forms.show(wordsOf(this.input.value)));
    document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); byId('answer').focus(); });
    byId('theme').addEventListener('click', () => this.turnTheme());
    document.addEventListener('keydown', (event) => {
      if (event.key === '/' && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) {
        event.preventDefault();
        this.input.focus();
      }
    });
  }

  async start() {
    this.drawPages();
    await this.commands.load();
    this.book.load();
    await this.open();
    await this.commands.loadNames();
    document.documentElement.dataset.ready = 'yes';
  }

  drawPages() {
    byId('ask').parentElement.hidden = false;
    document.querySelector('nav').append(...Object.entries(FIRST_LINES).map(([name, line]) =>
      make('a', { href: `#${encodeURI(line)}`, 'data-page': name }, name)), make('a', { href: '#exercises', 'data-page': 'exercises' },
      'exercises'));
  }

  // The address determines the view: a command, two commands on two lines, or the exercises.
  open() {
    const text = decoded(location.hash.slice(1)) || FIRST_LINES.fit;
    const inBook = text === 'exercises' || text.startsWith('exercises/');
    byId('ask').hidden = byId('result').hidden = inBook;
    byId('book').hidden = !inBook;
    this.explain.panel.hidden = true;
    this.markPage(inBook ? 'exercises' : text.split(' ')[0]);
    if (inBook) return this.book.show(text.slice('exercises/'.length));
    const lines = text.split('\n');
    this.first = lines.length > 1 ? wordsOf(lines[0]) : null;
    this.input.value = lineOf(wordsOf(lines.at(-1)));
    this.forms.show(wordsOf(this.input.value));
    this.about();
    return this.answer(wordsOf(this.input.value));
  }

  markPage(name) {
    for (const link of document.querySelectorAll('header nav a'))
      setAttributes(link, { 'aria-current': link.dataset.page === name ? 'page' : 'false' });
    document.title = `${name} · scaleplan`;
  }

  about() {
    byId('about').textContent = this.commands.named(wordsOf(this.input.value)[0])?.about ?? '';
  }

  // Copies a form to the command line; Enter in a field runs it.
  write(words, run) {
    this.input.value = lineOf(words);
    if (run) this.ask(words);
  }

  useFile(what, name) {
    const words = wordsOf(this.input.value);
    this.ask(what === 'validate' ? ['validate', name] : withOption(words, what, name));
  }

  // Puts a command into the address; the same address again runs it again.
  ask(words) {
    this.completion.close();
    const lines = [...(this.first ? [this.first] : []), words].map(lineOf).join('\n');
    const hash = `#${encodeURIComponent(lines)}`;
    if (location.hash === hash) this.open();
    else location.hash = hash;
  }

  async answer(words) {
    if (this.running) this.engine.cancel(this.running.id);
    this.answers = [];
    const shown = [];
    for (const each of this.first ? [this.first, words] : [words]) {
      const done = await this.runOne(each);
      if (!done) return;
      shown.push(this.answerOf(each, done));
    }
    byId('answer').replaceChildren(make('div', { class: `answers n${shown.length}` }, shown), ...this.difference());
    byId('answer').querySelectorAll('.report').forEach(walkNumbers);
    this.shown = lineOf(words);
    if (byId('answer').querySelector('.errors')) this.input.focus();
  }

  difference() {
    const [a, b] = this.answers;
    return a?.quantities && b?.quantities ? [compareTable(a, b)] : [];
  }

  // Runs a command unchanged, or for its layout and picture; null when it was cancelled.
  async runOne(words) {
    const plain = this.commands.isPlain(words);
    const draws = !plain && this.commands.draws(words);
    const asked = plain ? words : [...words, '--format', 'layout', ...(draws ? ['--plot', PICTURE, '--plot-width', this.pictureWidth()] : [])];
    const running = this.engine.run(asked, { files: this.files.all(), onprogress: (share) => this.progress(share) });
    this.running = running;
    const waiting = setTimeout(() => this.progress(null), 200);
    let done = await running.promise;
    clearTimeout(waiting);
    if (done && draws && done.code >= 2) done = await this.withoutPicture(words, done);
    if (this.running === running) this.running = null;
    if (!done) say(this.cancelled ? 'Cancelled.' : '');
    else say(`Answered in ${digits(done.ms)} ms.`);
    this.cancelled = false;
    return done;
  }

  // As wide as its place, beside another answer half of it; lines of text stay short enough to read.
  pictureWidth() {
    const room = byId('answer').clientWidth || 390;
    return String(Math.max(280, Math.min(Math.floor(this.first && room > 1000 ? room / 2 - 20 : room), 960)));
  }

  // If a command has an answer but no picture, asks again without a picture; if it has no answer, shows why.
  async withoutPicture(words, failed) {
    const done = await this.engine.run([...words, '--format', 'layout'], { files: this.files.all() }).promise;
    return done && done.code < 2 ? done : failed;
  }

  progress(share) {
    const bar = make('progress', share === null ? {} : { max: 100, value: share });
    byId('status').replaceChildren(share === null ? 'Computing ' : `Searching, ${share} % `, bar, ' ',
      button('Cancel', () => this.cancel(), { id: 'cancel' }));
  }

  cancel() {
    this.cancelled = true;
    if (this.running) this.engine.cancel(this.running.id);
    this.input.focus();
  }

  answerOf(words, done) {
    const layout = done.stdout.startsWith('{"items":') ? JSON.parse(done.stdout) : null;
    const picture = done.files[PICTURE];
    const figure = picture ? new Figure(new TextDecoder().decode(picture)) : null;
    this.answers.push(layout ?? {});
    const ask = (key) => this.explain.ask(words, key);
    return make('article', { class: 'one' }, this.first ? make('h2', { class: 'which' }, `scaleplan ${lineOf(words)}`) : null,
      errorsOf(done), layout ? reportOf(words[0], layout, figure, ask) : done.stdout ? plainOf(words, done.stdout) : null,
      done.code < 2 ? this.tools(words) : null);
  }

  tools(words) {
    const line = `scaleplan ${lineOf(words)}`;
    return make('div', { class: 'tools' }, button('Copy as shell command', () => copyText(line, 'The command is copied.')),
      button('Copy as JSON', () => this.copyJson(words)), button('Copy link', () => copyText(location.href, 'The link is copied.')),
      this.first ? button('Stop comparing', () => this.compare(null)) : button('Compare with another', () => this.compare(words)),
      button('Print', () => window.print()));
  }

  async copyJson(words) {
    const done = await this.engine.run([...words, '--format', 'json'], { files: this.files.all() }).promise;
    if (done) copyText(done.stdout, 'The answer is copied as JSON.');
  }

  // Keeps the answer, and shows the next command's beside it.
  compare(words) {
    const now = wordsOf(this.input.value);
    this.first = words;
    this.ask(now);
    this.input.focus();
    this.input.select();
  }

  turnTheme() {
    const themes = ['auto', 'light', 'dark'];
    const root = document.documentElement;
    const next = themes[(themes.indexOf(root.dataset.theme ?? 'auto') + 1) % themes.length];
    root.dataset.theme = next;
    byId('theme').textContent = `Theme: ${next}`;
  }
}

const page = new Page();
page.start();
