// What a page looks like, in numbers.
import { inflateSync } from 'node:zlib';

// The share of bytes of a PNG's picture that differ from what stands before them: nothing of a blank one does.
export function inkOf(png) {
  const parts = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const bytes = inflateSync(Buffer.concat(parts));
  let inked = 0;
  for (let i = 0; i < bytes.length; i++) inked += bytes[i] === 0 ? 0 : 1; // millions: a function for each would take a second
  return inked / bytes.length;
}

// Texts of the page whose contrast with what lies under them is below the least: [{text, ratio}].
export function paleTexts(tab, least) {
  return tab.evaluate((wanted) => {
    const channels = (colour) => (/rgba?\(([^)]*)\)/.exec(colour)?.[1] ?? '0,0,0,0').split(/[ ,/]+/).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const over = ([r, g, b, a = 1], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
    const behind = (element) => {
      if (!element) return [255, 255, 255];
      const style = getComputedStyle(element);
      const shape = element.tagName === 'rect';
      const fill = channels(shape ? style.fill : style.backgroundColor);
      if (shape) fill[3] = style.fill === 'none' ? 0 : Number(style.fillOpacity);
      return fill[3] === 0 ? behind(element.parentElement) : over(fill, behind(element.parentElement));
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const pale = [];
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest('script, noscript, .offscreen, .skip')) continue;
      const box = element.getBoundingClientRect();
      const svg = element.tagName === 'text';
      const under = svg ? document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2)
        .find((other) => other.tagName === 'rect' || other.tagName === 'DIV') ?? element.closest('div') : element;
      const style = getComputedStyle(element);
      const found = ratio(channels(svg ? style.fill : style.color), behind(under));
      if (found < wanted) pale.push({ text: element.textContent.slice(0, 40), ratio: found });
    }
    return pale;
  }, least);
}

// Whether the body can be moved sideways.
export function movesSideways(tab) {
  return tab.evaluate(() => document.documentElement.scrollWidth > window.innerWidth || document.body.scrollWidth > window.innerWidth);
}
