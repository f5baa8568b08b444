// The page: connects its parts; the address holds the question, and the page shows its answer.

const PICTURE = 'picture.svg';

// Reads an address; one that this page did not make is shown as it is. A view's begins with a stroke: it is no place on the page.
function decoded(hash) {
  const text = hash.replace(/^#\/?/, '');
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
    this.files = new Files(byId('files'), this.engine, { use: (kind, name) => this.useFile(kind, name), cases: this.book });
    this.explain = new Explain(this.engine, this.files);
    this.input = byId('command');
    this.completion = new Completion(this.input, byId('offers'), this.commands, this.files);
    this.forms = new Forms(byId('fields'), byId('others'), this.commands, this.files, (words, run) => this.write(words, run));
    this.first = null; // the words of the answer that others are compared with
    this.answers = [];
    this.lines = Object.fromEntries(Object.entries(TASKS).map(([name, [, line]]) => [name, wordsOf(line)]));
    this.listen();
  }

  listen() {
    window.addEventListener('hashchange', () => this.open());
    byId('line').addEventListener('submit', (event) => { event.preventDefault(); this.ask(wordsOf(this.input.value), true); });
    this.input.addEventListener('keydown', (event) => this.completion.key(event));
    for (const name of ['input', 'change'])
      this.input.addEventListener(name, () => this.forms.show(wordsOf(this.input.value)));
    document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); byId('answer').focus(); });
    // What is printed is one page: of pictures, those that are wider than high.
    window.addEventListener('beforeprint', () => document.querySelectorAll('figure svg').forEach((svg) =>
      svg.closest('figure').classList.toggle('tall', svg.clientHeight > svg.clientWidth)));
    byId('copy').addEventListener('click', () => copyText(`scaleplan ${this.input.value}`, 'The command is copied.'));
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
    this.book.load();
    await Promise.race([this.open(), new Promise((resolve) => { this.seen = resolve; })]); // names complete during a long search
    await this.commands.loadNames();
    document.documentElement.dataset.ready = 'yes';
  }

  // The program's tables, when they are needed first: after a verdict.
  tables() {
    this.loading ??= this.commands.load().then(() => this.forms.show(wordsOf(this.input.value)));
    return this.loading;
  }

  drawPages() {
    byId('ask').parentElement.hidden = false;
    document.querySelector('nav').append(...[...Object.entries(TASKS).map(([name, [title]]) => [name, title]),
      ['exercises', 'Learn'], ['commands', 'All commands']].map(([page, title]) =>
      make('a', { href: `#/${encodeURIComponent(lineOf(this.lines[page] ?? [page]))}`, 'data-page': page }, title)));
  }

  // A task opens with its last question; tasks about training share one problem, all tasks a model and a chip that were chosen.
  remember(words) {
    const last = this.lines[words[0]];
    if (!last) return;
    this.lines[words[0]] = words;
    const problems = ['fit', 'step', 'search'];
    const machine = (line) => machineOf(line, this.forms.machines);
    const chosen = (of) => of(words) && of(words) !== of(last);
    for (const [name, line] of Object.entries(this.lines)) {
      if (optionIn(words, 'from') !== null) { /* a launch has its own */ }
      else if (problems.includes(name) && problems.includes(words[0]))
        for (const option of ['model', 'hw', 'batch', 'seq', 'tokens'])
          this.lines[name] = withOption(this.lines[name], option, optionIn(words, option));
      else {
        if (chosen((each) => optionIn(each, 'model'))) this.lines[name] = withOption(this.lines[name], 'model', optionIn(words, 'model'));
        if (chosen((each) => machine(each).chip)) this.lines[name] = withField(this.lines[name], 'chip', '', { ...machine(line), chip: machine(words).chip });
      }
      setAttributes(document.querySelector(`[data-page=${name}]`), { href: `#/${encodeURIComponent(lineOf(this.lines[name]))}` });
    }
  }

  // The address determines the view: a command, two commands on two lines, the exercises, or all commands.
  async open() {
    const text = await this.takeFiles(decoded(location.hash) || lineOf(this.lines.fit));
    const [view, chapter] = text.split('/');
    const views = { exercises: () => this.book.show(chapter), commands: () => byId('book').replaceChildren(...this.commands.page()) };
    const inBook = Object.hasOwn(views, view);
    for (const part of ['ask', 'result', 'more']) byId(part).hidden = inBook;
    byId('book').hidden = !inBook;
    this.explain.panel.hidden = true;
    this.markPage(inBook ? view : text.split(' ')[0]);
    if (inBook) return this.tables().then(views[view]);
    const lines = text.split('\n');
    this.first = lines.length > 1 ? wordsOf(lines[0]) : null;
    this.input.value = lineOf(wordsOf(lines.at(-1)));
    this.forms.show(wordsOf(this.input.value));
    return this.answer(wordsOf(this.input.value));
  }

  markPage(name) {
    for (const link of document.querySelectorAll('header nav a')) {
      setAttributes(link, { 'aria-current': link.dataset.page === name ? 'page' : 'false' });
      if (link.dataset.page === name) link.parentNode.scrollLeft = link.offsetLeft - 50;
    }
    document.title = `${name} · scaleplan`;
  }

  // Copies a form to the command line, and shows the answer as it changes; Enter in a field puts it into the history.
  write(words, run) {
    this.input.value = lineOf(words);
    if (run) this.ask(words);
    else this.answer(words, true);
  }

  // A launch has its own model and plan, and asks for a machine; requests are served.
  useFile({ use, command }, name) {
    const words = wordsOf(this.input.value);
    const launch = [command, '--from', name, '--hw', optionIn(this.lines[command] ?? words, 'hw')];
    this.ask(use === 'validate' ? [use, name] : use === 'from' ? launch : withOption(use === 'input' ? this.lines.serve : words, use, name));
  }

  // The address of a question, with its files where they are small.
  async copyLink(words) {
    const names = [...this.first ?? [], ...words].filter((word) => this.files.own.has(word));
    const packed = await Promise.all(names.map(async (name) => `\n\n${name} ${await wordOf(this.files.own.get(name))}`));
    const link = `${location.href.split('#')[0]}${this.addressOf(words)}${encodeURIComponent(packed.join(''))}`;
    if (!names.length || link.length < 8000) return copyText(link, `The link is copied${names.length ? `, with ${names.join(', ')}` : ''}.`);
    return copyText(location.href, `The link is copied. It is too short for ${names.join(', ')}: whoever opens it drops that on the page.`);
  }

  // Takes the files of a link; returns its question.
  async takeFiles(text) {
    const [question, ...files] = text.split('\n\n');
    for (const [name, word] of files.map((file) => file.split(' ')))
      try {
        this.files.take(name, await bytesOf(word));
      } catch { /* a link that was cut: the answer asks for the file */ }
    if (files.length) this.files.show();
    return question;
  }

  addressOf(words) {
    return `#${encodeURIComponent([...(this.first ? [this.first] : []), words].map(lineOf).join('\n'))}`;
  }

  // Puts a command into the address; the same address again runs it again. `goes`: to the answer, where there is one.
  ask(words, goes = false) {
    this.completion.close();
    this.goes = goes;
    const hash = this.addressOf(words);
    if (location.hash === hash) this.open();
    else location.hash = hash;
  }

  // Shows the answer to a command. The old answer is stale until then. `live`: while it is being typed, where errors
  // leave the last answer.
  async answer(words, live = false) {
    if (this.running) this.engine.cancel(this.running.id);
    this.asked = words;
    byId('answer').classList.add('stale');
    byId('answer').querySelectorAll('[data-new]').forEach((part) => part.removeAttribute('data-new'));
    if (!this.first && words[0] === 'fit' && optionIn(words, 'tokens') !== null && !await this.verdictFirst(words)) return;
    await this.tables();
    this.answers = [];
    const shown = [];
    for (const each of this.first ? [this.first, words] : [words]) {
      const done = await this.runOne(each);
      if (!done || this.asked !== words) return;
      this.forms.want(done.code > 1 ? / give (--.*)/.exec(done.stderr)?.[1] ?? '' : '');
      if (live && done.code > 1) return byId('status').replaceChildren(...this.errorsOf(each, done, null));
      shown.push(this.answerOf(each, done));
    }
    this.show(...shown);
    this.shown = lineOf(words);
    if (live) history.replaceState(null, '', this.addressOf(words));
    if (byId('answer').querySelector('.errors')) (byId('fields').querySelector('[aria-invalid=true]') ?? this.input).focus();
    else if (this.goes) byId('answer').focus();
    this.goes = false;
    this.remember(words);
  }

  // Days of a run are a search's, which takes longer than the verdict and the memory: those come first. False where another
  // command was asked meanwhile.
  async verdictFirst(words) {
    const done = await this.engine.run([...withoutOption(words, 'tokens'), '--format', 'layout'], { files: this.files.all() }).promise;
    if (done?.code > 1 || !done || this.asked !== words) return this.asked === words;
    const next = this.answerOf(words, done);
    const old = ['.verdict', '.gauge', '.lines'].map((part) => byId('answer').querySelector(part));
    if (old.includes(null)) this.show(next);
    else old.forEach((part) => part.replaceWith(setAttributes(next.querySelector(`.${part.classList[0]}`), { 'data-new': true })));
    return true;
  }

  show(...shown) {
    byId('answer').replaceChildren(make('div', { class: `answers n${shown.length}` }, shown), ...this.difference());
    byId('answer').querySelectorAll('.report').forEach(walkNumbers);
    byId('answer').classList.remove('stale');
    this.seen?.();
    if (this.answers[0]?.quantities) this.forms.know(this.answers.at(-1));
    clearTimeout(this.speaking); // not at every key
    this.speaking = setTimeout(() => {
      byId('spoken').textContent = [...byId('answer').querySelectorAll('.verdict, .gauge h3')].map((each) => each.textContent).join('. ');
    }, 500);
  }

  difference() {
    const [a, b] = this.answers;
    return a?.quantities && b?.quantities ? [compareTable(a, b)] : [];
  }

  // Runs a command unchanged, or for its layout and picture; null when it was cancelled.
  async runOne(words) {
    const plain = this.commands.isPlain(words);
    const draws = !plain && this.commands.draws(words);
    const asked = plain ? words : [words[0], '--format', 'layout', ...(draws ? ['--plot', PICTURE, '--plot-width', this.pictureWidth()] : []), ...words.slice(1)];
    const running = this.engine.run(asked, { files: this.files.all(), onprogress: (share) => this.progress(share) });
    this.running = running;
    const waiting = setTimeout(() => this.progress(null), 200);
    let done = await running.promise;
    clearTimeout(waiting);
    if (done && draws && done.code >= 2) done = await this.withoutPicture(words, done);
    if (this.running === running) this.running = null;
    if (!done) say(this.cancelled ? 'Cancelled.' : '');
    else say('');
    this.cancelled = false;
    return done;
  }

  // As wide as its place, beside another answer half of it; lines of text stay short enough to read.
  pictureWidth() {
    const room = byId('answer').clientWidth || 390;
    return String(Math.max(280, Math.min(Math.floor(this.first && room >= 680 ? room / 2 - 20 : room), 960)));
  }

  // If a command has an answer but no picture, asks again without a picture; if it has no answer, shows why.
  async withoutPicture(words, failed) {
    const done = await this.engine.run([words[0], '--format', 'layout', ...words.slice(1)], { files: this.files.all() }).promise;
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
    const ask = (quantity) => this.explain.ask(words, quantity);
    const lacking = done.code > 1 && words.filter((word) => /\.(json|csv|sh|ya?ml|py|toml)$/.test(word) && !this.files.own.has(word));
    return make('article', { class: 'one' }, this.first ? make('p', { class: 'which' }, `scaleplan ${lineOf(words)}`) : null,
      this.errorsOf(words, done, 'alert'), lacking.length ? make('p', {}, `The link has no room for files: drop ${lacking.join(', ')} on this page.`) : null,
      layout ? reportOf(words[0], layout, figure, ask) : done.stdout ? plainOf(words, done.stdout) : null,
      done.code < 2 ? this.tools(words) : null);
  }

  // What is wrong, or to be noted beside an answer, and a button for the name that may be meant.
  errorsOf(words, { code, stderr }, role) {
    const [, wrong, meant] = /"([^"]+)"; did you mean "([^"]+)"/.exec(stderr) ?? [];
    return [stderr && (code > 1 ? make('pre', { class: 'errors', role }, stderr) : make('p', { class: 'notes' }, stderr)),
      meant && button(`Use ${meant}`, () => this.ask(words.map((word) => word.replace(wrong, meant)), true))].filter(Boolean);
  }

  tools(words) {
    return make('div', { class: 'tools' }, button('Copy as JSON', () => this.copyJson(words)), button('Copy link', () => this.copyLink(words)),
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
