// Shows how a number follows: the output of `--explain`, beside the answer, until it is closed.

class Explain {
  constructor(engine, files) {
    this.engine = engine;
    this.files = files;
    this.panel = byId('explain');
    this.panel.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.close(); });
  }

  async ask(words, key) {
    this.from = document.activeElement;
    const asked = [...words, `--explain=${key}`, '--derive'];
    const done = await this.engine.run(asked, { files: this.files.all() }).promise;
    if (done) this.show(asked, done);
  }

  show(asked, done) {
    const closing = button('Close', () => this.close(), { class: 'quiet' });
    const line = `scaleplan ${lineOf(asked)}`;
    this.panel.replaceChildren(make('div', { class: 'bar' }, make('h2', {}, 'How this number follows'), closing),
      make('pre', {}, done.stdout || done.stderr), make('p', { class: 'command' }, make('code', {}, line), ' ',
        button('Copy', () => copyText(line, 'The command is copied.'), { class: 'quiet' })));
    this.panel.hidden = false;
    closing.focus();
  }

  close() {
    this.panel.hidden = true;
    this.from?.focus();
  }
}
