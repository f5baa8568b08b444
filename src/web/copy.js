// Copies by the browser's clipboard, or by a selection if the clipboard is not allowed; saves files; packs them into links.

async function copyText(text, told) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { 'aria-hidden': 'true', class: 'offscreen' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(told);
}

function save(name, bytes) {
  const href = URL.createObjectURL(new Blob([bytes]));
  make('a', { href, download: name }).click();
  URL.revokeObjectURL(href);
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// Bytes as a word, and back.
async function wordOf(bytes) {
  return btoa(String.fromCharCode(...await through(new CompressionStream('deflate-raw'), bytes)));
}

function bytesOf(word) {
  return through(new DecompressionStream('deflate-raw'), Uint8Array.from(atob(word), (character) => character.charCodeAt(0)));
}
