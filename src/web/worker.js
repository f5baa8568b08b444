// Runs commands one after the other, each in a new instance of the program.

let program;

// The program's progress bar on a terminal is not a part of the answer.
function listen(id, streams) {
  return (stream, text) => {
    const share = stream === 2 && /\rsearching .* (\d+) %/.exec(text);
    if (share) postMessage({ id, progress: Number(share[1]) });
    else if (stream !== 2 || !/^\r *\r$/.test(text)) streams[stream] += text;
  };
}

function runOnce({ id, given }) {
  const streams = { 1: '', 2: '' };
  const wasi = new Wasi({ ...given, words: ['scaleplan', ...given.words] }, listen(id, streams));
  const start = performance.now();
  let code = 0;
  try {
    const instance = new WebAssembly.Instance(program, wasi.imports());
    wasi.memory = instance.exports.memory;
    instance.exports._start();
  } catch (error) {
    code = error instanceof Exit ? error.code : 4;
    if (!(error instanceof Exit)) streams[2] += `scaleplan: stopped: ${error.message}\n`;
  }
  const ms = performance.now() - start;
  postMessage({ id, done: { code, ms, stdout: streams[1], stderr: streams[2], files: wasi.run.written() } });
}

onmessage = ({ data }) => {
  if (data.packed) postMessage({ program: program = new WebAssembly.Module(withCode(data.packed, outOfStreams)) });
  else if (data.program) program = data.program;
  else runOnce(data);
};
