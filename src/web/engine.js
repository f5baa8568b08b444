// Runs of the program in a worker: one at a time, in the order of the requests. Cancelling ends the worker
// with the run at work; the others go on in a new one.

class Engine {
  constructor() {
    this.runs = new Map();
    this.last = 0;
    this.load();
  }

  async load() {
    this.url = URL.createObjectURL(new Blob([carried.worker], { type: 'text/javascript' }));
    this.module = await WebAssembly.compile(withCode(carried.program, outOfStreams));
    this.start();
  }

  start() {
    this.worker = new Worker(this.url);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.postMessage({ program: this.module });
    for (const [id, run] of this.runs) this.worker.postMessage({ id, given: run.given });
  }

  hear({ id, progress, done }) {
    const run = this.runs.get(id);
    if (!run) return;
    if (progress !== undefined) run.onprogress?.(progress);
    if (!done) return;
    this.runs.delete(id);
    run.resolve(done);
  }

  // Runs a command; `files` by path. The promise gives {code, ms, stdout, stderr, files}, or null when it was cancelled.
  run(words, { files = {}, onprogress = null } = {}) {
    const id = ++this.last;
    const given = { words, files, terminal: onprogress !== null };
    const promise = new Promise((resolve) => this.runs.set(id, { given, onprogress, resolve }));
    if (this.worker) this.worker.postMessage({ id, given });
    return { id, promise };
  }

  cancel(id) {
    const run = this.runs.get(id);
    if (!run) return;
    this.runs.delete(id);
    this.worker?.terminate();
    if (this.module) this.start();
    run.resolve(null);
  }
}
