// Files of one run: inputs from the page, and outputs of the program. Paths are flat: "/a/b" and "./a/b" are "a/b".

const WASI_KIND = { device: 2, folder: 3, file: 4 };

function plainPath(path) {
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

class RunFiles {
  constructor(given) {
    this.files = new Map(Object.entries(given).map(([path, bytes]) => [plainPath(path), { bytes, written: false }]));
    this.inodes = new Map();
  }

  isFolder(path) {
    return path === '' || [...this.files.keys()].some((name) => name.startsWith(`${path}/`));
  }

  // Names directly inside a folder.
  namesIn(path) {
    const front = path === '' ? '' : `${path}/`;
    const inside = [...this.files.keys()].filter((name) => name.startsWith(front));
    return [...new Set(inside.map((name) => name.slice(front.length).split('/')[0]))];
  }

  inode(path) {
    if (!this.inodes.has(path)) this.inodes.set(path, this.inodes.size + 10);
    return this.inodes.get(path);
  }

  create(path) {
    this.files.set(path, { bytes: new Uint8Array(0), written: true });
    return this.files.get(path);
  }

  append(file, at, bytes) {
    const all = new Uint8Array(Math.max(file.bytes.length, at + bytes.length));
    all.set(file.bytes);
    all.set(bytes, at);
    file.bytes = all;
    file.written = true;
  }

  // The files that the run wrote.
  written() {
    const out = {};
    for (const [path, file] of this.files) if (file.written) out[path] = file.bytes;
    return out;
  }
}
