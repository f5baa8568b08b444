// The program's own tables: its commands with their options, and the names of its configs.

class Commands {
  constructor(engine) {
    this.engine = engine;
    this.table = [];
    this.names = {};
  }

  async load() {
    this.table = await this.ask(['help', '--format', 'json']);
  }

  async loadNames() {
    const list = await this.ask(['list', '--format', 'json']);
    for (const [kind, rows] of Object.entries(list))
      if (Array.isArray(rows) && kind !== 'notes') this.names[kind] = rows.map((row) => row.name);
  }

  async ask(words) {
    const done = await this.engine.run(words).promise;
    return JSON.parse(done.stdout);
  }

  named(name) {
    return this.table.find((command) => command.name === name);
  }

  option(command, name) {
    return this.named(command)?.options.find((option) => option.name === name);
  }

  // The possible values of an option.
  valuesOf(option) {
    return option.choices ?? this.names[option.list] ?? [];
  }

  // Whether a command makes rows, text or a file, not one report with a layout.
  isPlain(words) {
    const command = this.named(words[0]);
    if (!command || words.includes('--help') || words[0] === 'help') return true;
    if (command.streams && words.length > 1 && (words[1] === '-' || !words[1].startsWith('-'))) return true;
    return ['format', 'get', 'explain', 'book'].some((name) => optionIn(words, name) !== null);
  }

  // All commands with their examples, which are links.
  page() {
    return [make('h2', {}, 'All commands'), ...this.table.map(({ name, summary, about, examples }) => make('section', {},
      make('h3', {}, name), make('p', {}, `${summary}. ${about}`), make('ul', {}, examples.map(({ line, what }) => make('li', {},
        make('a', { href: `#${encodeURIComponent(lineOf(wordsOf(line.split(/ (&&|>|\|) /)[0])))}` }, make('code', {}, line)), ` ${what}`)))))];
  }

  draws(words) {
    return this.option(words[0], 'plot') !== undefined && optionIn(words, 'plot') === null;
  }
}
