// The WASI calls of the program: arguments, clock, standard streams and files, for one run.

const WASI_ERROR = { badFile: 8, exists: 20, invalid: 28, isFolder: 31, noEntry: 44, noCall: 52, notFolder: 54 };
const ALL_RIGHTS = 0xffffffffffffffffn;
const FIRST_FILE = 5;

class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

class Wasi {
  // `given`: words, files by path, stdin as bytes, whether stderr is a terminal; `write(stream, text)` gets both outputs.
  constructor(given, write) {
    this.words = given.words.map((word) => new TextEncoder().encode(`${word}\0`));
    this.run = new RunFiles(given.files ?? {});
    this.terminal = given.terminal ?? false;
    this.write = write;
    this.open = new Map([[0, { bytes: given.stdin ?? new Uint8Array(0), at: 0 }], [3, { folder: '', name: '/' }],
      [4, { folder: '', name: '.' }]]);
    this.decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  }

  get view() {
    return new DataView(this.memory.buffer);
  }

  bytes(at, n) {
    return new Uint8Array(this.memory.buffer, at, n);
  }

  text(at, n) {
    return new TextDecoder().decode(this.bytes(at, n));
  }

  // Calls that are not implemented return "not supported".
  imports() {
    const known = (name) => (typeof this[name] === 'function' ? this[name].bind(this) : () => WASI_ERROR.noCall);
    return { wasi_snapshot_preview1: new Proxy({}, { get: (_, name) => known(name) }) };
  }

  args_sizes_get(count, size) {
    this.view.setUint32(count, this.words.length, true);
    this.view.setUint32(size, this.words.reduce((sum, word) => sum + word.length, 0), true);
    return 0;
  }

  args_get(pointers, buffer) {
    this.words.forEach((word, i) => {
      this.view.setUint32(pointers + 4 * i, buffer, true);
      this.bytes(buffer, word.length).set(word);
      buffer += word.length;
    });
    return 0;
  }

  environ_sizes_get(count, size) {
    this.view.setUint32(count, 0, true);
    this.view.setUint32(size, 0, true);
    return 0;
  }

  environ_get() {
    return 0;
  }

  clock_time_get(id, precision, at) {
    const ms = id === 0 ? Date.now() : performance.now();
    this.view.setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
    return 0;
  }

  proc_exit(code) {
    throw new Exit(code);
  }

  kindOf(fd) {
    if (fd <= 2) return fd === 2 && !this.terminal ? WASI_KIND.file : WASI_KIND.device;
    return this.open.get(fd)?.folder !== undefined ? WASI_KIND.folder : WASI_KIND.file;
  }

  fd_fdstat_get(fd, at) {
    if (fd > 2 && !this.open.has(fd)) return WASI_ERROR.badFile;
    const kind = this.kindOf(fd);
    this.view.setUint8(at, fd === 1 ? WASI_KIND.file : kind);
    this.view.setUint16(at + 2, 0, true);
    this.view.setBigUint64(at + 8, kind === WASI_KIND.device ? 0n : ALL_RIGHTS, true);
    this.view.setBigUint64(at + 16, ALL_RIGHTS, true);
    return 0;
  }

  fd_fdstat_set_flags() {
    return 0;
  }

  putStat(at, kind, inode, size) {
    this.bytes(at, 64).fill(0);
    this.view.setBigUint64(at, 1n, true);
    this.view.setBigUint64(at + 8, BigInt(inode), true);
    this.view.setUint8(at + 16, kind);
    this.view.setBigUint64(at + 24, 1n, true);
    this.view.setBigUint64(at + 32, BigInt(size), true);
    return 0;
  }

  fd_filestat_get(fd, at) {
    if (fd <= 2) return this.putStat(at, WASI_KIND.device, fd + 1, 0);
    const open = this.open.get(fd);
    if (!open) return WASI_ERROR.badFile;
    if (open.folder !== undefined) return this.putStat(at, WASI_KIND.folder, this.run.inode(open.folder), 0);
    return this.putStat(at, WASI_KIND.file, this.run.inode(open.path), open.file.bytes.length);
  }

  path_filestat_get(fd, flags, name, length, at) {
    const path = plainPath(this.text(name, length));
    const file = this.run.files.get(path);
    if (file) return this.putStat(at, WASI_KIND.file, this.run.inode(path), file.bytes.length);
    if (!this.run.isFolder(path)) return WASI_ERROR.noEntry;
    return this.putStat(at, WASI_KIND.folder, this.run.inode(path), 0);
  }

  fd_prestat_get(fd, at) {
    const open = this.open.get(fd);
    if (!open?.name) return WASI_ERROR.badFile;
    this.view.setUint32(at, 0, true);
    this.view.setUint32(at + 4, open.name.length, true);
    return 0;
  }

  fd_prestat_dir_name(fd, at, length) {
    this.bytes(at, length).set(new TextEncoder().encode(this.open.get(fd).name));
    return 0;
  }

  path_open(fd, lookup, name, length, flags, rights, inherited, fdFlags, at) {
    const [creates, wantsFolder, alone, empties] = [1, 2, 4, 8].map((bit) => (flags & bit) !== 0);
    const path = plainPath(this.text(name, length));
    let file = this.run.files.get(path);
    const folder = !file && this.run.isFolder(path);
    if (file && creates && alone) return WASI_ERROR.exists;
    if (file && wantsFolder) return WASI_ERROR.notFolder;
    if (!file && !folder && !creates) return WASI_ERROR.noEntry;
    if (folder && creates) return WASI_ERROR.isFolder;
    if (!folder && (!file || empties)) file = this.run.create(path);
    const next = Math.max(FIRST_FILE - 1, ...this.open.keys()) + 1;
    this.open.set(next, folder ? { folder: path } : { path, file, at: 0 });
    this.view.setUint32(at, next, true);
    return 0;
  }

  fd_close(fd) {
    return this.open.delete(fd) ? 0 : WASI_ERROR.badFile;
  }

  // Calls `each` with the pieces of memory of a vector; returns the sum of its results.
  eachPiece(vector, count, at, each) {
    let sum = 0;
    for (let i = 0; i < count; i++)
      sum += each(this.bytes(this.view.getUint32(vector + 8 * i, true), this.view.getUint32(vector + 8 * i + 4, true)));
    this.view.setUint32(at, sum, true);
    return 0;
  }

  fd_read(fd, vector, count, at) {
    const open = this.open.get(fd);
    const bytes = open?.bytes ?? open?.file?.bytes;
    if (!bytes) return open ? WASI_ERROR.isFolder : WASI_ERROR.badFile;
    return this.eachPiece(vector, count, at, (piece) => {
      const part = bytes.subarray(open.at, open.at + piece.length);
      piece.set(part);
      open.at += part.length;
      return part.length;
    });
  }

  fd_write(fd, vector, count, at) {
    const open = this.open.get(fd);
    if (fd !== 1 && fd !== 2 && !open?.file) return WASI_ERROR.badFile;
    return this.eachPiece(vector, count, at, (piece) => {
      if (open?.file) {
        this.run.append(open.file, open.at, piece);
        open.at += piece.length;
      } else if (piece.length > 0) {
        this.write(fd, this.decoders[fd].decode(piece, { stream: true }));
      }
      return piece.length;
    });
  }

  fd_seek(fd, offset, whence, at) {
    const open = this.open.get(fd);
    if (!open?.file) return fd <= 2 ? 70 : WASI_ERROR.badFile;
    const from = [0, open.at, open.file.bytes.length][whence];
    open.at = from + Number(offset);
    this.view.setBigUint64(at, BigInt(open.at), true);
    return 0;
  }

  // Entries of a folder from `cookie` on, as many as the buffer holds.
  fd_readdir(fd, buffer, size, cookie, at) {
    const open = this.open.get(fd);
    if (open?.folder === undefined) return WASI_ERROR.badFile;
    const out = new Uint8Array(size);
    let used = 0;
    this.run.namesIn(open.folder).forEach((name, i) => {
      if (i < Number(cookie) || used >= size) return;
      const entry = this.folderEntry(open.folder, name, i + 1);
      out.set(entry.subarray(0, size - used), used);
      used = Math.min(size, used + entry.length);
    });
    this.bytes(buffer, used).set(out.subarray(0, used));
    this.view.setUint32(at, used, true);
    return 0;
  }

  folderEntry(folder, name, next) {
    const text = new TextEncoder().encode(name);
    const path = plainPath(`${folder}/${name}`);
    const entry = new Uint8Array(24 + text.length);
    const view = new DataView(entry.buffer);
    view.setBigUint64(0, BigInt(next), true);
    view.setBigUint64(8, BigInt(this.run.inode(path)), true);
    view.setUint32(16, text.length, true);
    view.setUint8(20, this.run.files.has(path) ? WASI_KIND.file : WASI_KIND.folder);
    entry.set(text, 24);
    return entry;
  }
}
