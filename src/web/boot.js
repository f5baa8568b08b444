// Unpacks the page's style, body and scripts, the program, the exercises and the worker's script.

const carried = {};
{
  const element = document.getElementById('carried');
  const sizes = element.dataset.sizes.split(' ');
  const { memory, unpack } = new WebAssembly.Instance(new WebAssembly.Module(unpacker)).exports;
  const packed = fromCharacters(element.textContent);
  const from = memory.buffer.byteLength;
  const to = from + packed.length;
  memory.grow((packed.length + Number(element.dataset.size) + 0xffff) >> 16);
  new Uint8Array(memory.buffer, from).set(packed);
  unpack(from, to);
  const bytes = new Uint8Array(memory.buffer, to);
  element.textContent = '';
  for (let i = 0, at = 0; i < sizes.length; i += 2, at += Number(sizes[i - 1]))
    carried[sizes[i]] = bytes.subarray(at, at + Number(sizes[i + 1]));
  const text = (name) => new TextDecoder().decode(carried[name]);
  const style = document.createElement('style');
  style.textContent = text('style');
  document.head.append(style);
  document.body.insertAdjacentHTML('afterbegin', text('body'));
  document.documentElement.hidden = false;
  runScript(text('scripts'));
}
