// Shows how a number follows: the output of `--explain`, beside the answer, until it is closed.

class Explain {
  constructor(engine, files) {
    this.engine = engine;
    this.files = files;
    this.panel = byId('explain');
    this.panel.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.close(); });
  }

  async ask(words, quantity) {
    this.from = document.activeElement;
    const asked = [...words, `--explain=${quantity.key}`, '--derive'];
    const done = await this.engine.run(asked, { files: this.files.all() }).promise;
    if (done) this.show(asked, done, quantity);
  }

  show(asked, done, { label, text }) {
    const closing = button('Close', () => this.close(), { class: 'quiet' });
    const line = `scaleplan ${lineOf(asked)}`;
    this.panel.replaceChildren(make('div', { class: 'bar' }, make('h2', {}, `${label}: ${text}`), closing),
      make('pre', {}, done.stdout.replace(/^ +this has no derivation.*\n/m, '') || done.stderr), make('p', { class: 'command' }, make('code', {}, line), ' ',
        button('Copy', () => copyText(line, 'The command is copied.'), { class: 'quiet' })));
    this.panel.hidden = false;
    closing.focus();
  }

  close() {
    this.panel.hidden = true;
    this.from?.focus();
  }
}
