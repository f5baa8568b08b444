// Completion of the command line: commands, options with their meaning, values, models, machines, files.

// The completions at a place of the line: {from, to, offers: [{text, help}]}.
function offersAt(line, caret, commands, fileNames) {
  const { words } = splitWords(line.slice(0, caret));
  const typing = words.length && words.at(-1).to === caret ? words.pop() : { text: '', from: caret, to: caret };
  const given = words.map((word) => word.text);
  const offers = valuesAt(given, typing.text, commands, fileNames);
  const matching = offers.filter((offer) => offer.text.startsWith(typing.text) && offer.text !== typing.text);
  const within = offers.filter((offer) => !offer.text.startsWith(typing.text) && typing.text.length > 1 &&
    offer.text.includes(typing.text));
  return { from: typing.from, to: caret, offers: [...matching, ...within] };
}

function valuesAt(given, typed, commands, fileNames) {
  const plain = (names, help = '') => names.map((text) => ({ text, help }));
  if (given.length === 0) return commands.table.map((command) => ({ text: command.name, help: command.summary }));
  const command = commands.named(given[0]);
  if (!command) return [];
  const last = given.at(-1);
  const option = last.startsWith('--') ? commands.option(command.name, last.slice(2)) : null;
  if (option?.value && !typed.startsWith('--')) {
    const files = option.file ? plain(fileNames, 'your file') : [];
    return [...files, ...plain(commands.valuesOf(option), option.list ?? '')];
  }
  const options = command.options.map((each) => ({ text: `--${each.name}`, help: each.help }));
  return [...operandsOf(command, commands, fileNames), ...options];
}

function operandsOf(command, commands, fileNames) {
  if (!command.operands) return [];
  const names = command.list === undefined ? [] : command.list ? commands.names[command.list] ?? []
    : Object.values(commands.names).flat();
  return [...fileNames, ...names].map((text) => ({ text, help: '' }));
}

class Completion {
  constructor(input, list, commands, files) {
    Object.assign(this, { input, list, commands, files, at: -1, found: { offers: [] } });
    input.addEventListener('input', () => this.look());
    input.addEventListener('blur', () => setTimeout(() => this.close(), 150));
  }

  look() {
    const MOST = 40;
    this.found = offersAt(this.input.value, this.input.selectionStart, this.commands, this.files.names());
    this.at = -1;
    this.list.replaceChildren(...this.found.offers.slice(0, MOST).map((offer, i) => make('li', { role: 'option', id: `offer${i}`,
      onpointerdown: (event) => { event.preventDefault(); this.take(i); } }, make('b', {}, offer.text), ' ',
    make('span', {}, offer.help))));
    this.list.hidden = this.found.offers.length === 0;
    this.mark();
  }

  mark() {
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    [...this.list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === this.at)));
    if (this.at < 0) return this.input.removeAttribute('aria-activedescendant');
    this.input.setAttribute('aria-activedescendant', `offer${this.at}`);
    return this.list.children[this.at].scrollIntoView({ block: 'nearest' });
  }

  close() {
    this.list.hidden = true;
    this.at = -1;
    this.mark();
  }

  take(i) {
    const { from, to, offers } = this.found;
    const { value } = this.input;
    this.input.setRangeText(`${offers[i].text}${value[to] === ' ' ? '' : ' '}`, from, to, 'end');
    this.close();
    this.input.dispatchEvent(new Event('change'));
  }

  // Whether the key belonged to the list of completions.
  key(event) {
    const n = this.list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (this.list.hidden && event.key === 'ArrowDown') this.look();
    else if (step && !this.list.hidden && n) this.at = (this.at + step + n + (this.at < 0 && step < 0 ? 1 : 0)) % n;
    else if (event.key === 'Escape' && !this.list.hidden) this.close();
    else if ((event.key === 'Enter' || event.key === 'Tab') && !this.list.hidden && this.at >= 0) this.take(this.at);
    else if (event.key === 'Tab' && !this.list.hidden && n && !event.shiftKey && this.input.value) this.take(0);
    else return false;
    if (!this.list.hidden) this.mark();
    event.preventDefault();
    return true;
  }
}
