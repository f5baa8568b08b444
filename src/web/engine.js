// Runs of the program in two workers: each does one at a time, in the order of the requests. Runs that can be cancelled, which
// may be long, have the second: cancelling ends it with the run at work, and the others go on in a new one. The first stays
// warm, for a verdict at every key; it unpacks and compiles the program while the page is laid out.

class Engine {
  constructor() {
    this.runs = new Map();
    this.workers = [];
    this.last = 0;
    this.url = URL.createObjectURL(new Blob([carried.worker], { type: 'text/javascript' }));
    this.start(0);
  }

  start(lane) {
    const worker = new Worker(this.url);
    this.workers[lane] = worker;
    worker.onmessage = ({ data }) => this.hear(data);
    worker.postMessage(this.module ? { program: this.module } : { packed: carried.program });
    for (const [id, run] of this.runs) if (run.lane === lane) worker.postMessage({ id, given: run.given });
  }

  hear({ id, program, progress, done }) {
    if (program) {
      this.module = program;
      if ([...this.runs.values()].some(({ lane }) => lane && !this.workers[lane])) this.start(1);
    }
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
    const lane = onprogress ? 1 : 0;
    const promise = new Promise((resolve) => this.runs.set(id, { given, onprogress, resolve, lane }));
    if (this.workers[lane]) this.workers[lane].postMessage({ id, given });
    else if (this.module) this.start(lane);
    return { id, promise };
  }

  cancel(id) {
    const run = this.runs.get(id);
    if (!run) return;
    this.runs.delete(id);
    this.workers[run.lane]?.terminate();
    if (this.module) this.start(run.lane);
    run.resolve(null);
  }
}
