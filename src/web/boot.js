// Unpacks the page's style, body and scripts, the program, the exercises and the worker's script.

const carried = {};
{
  const element = document.getElementById('carried');
  const sizes = element.dataset.sizes.split(' ');
  const bytes = new Lzma(fromCharacters(element.textContent)).unpack();
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
