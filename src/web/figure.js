// Shows a picture of the program, an SVG, with the text of its shapes when one points at them or goes through them by arrow keys.

class Figure {
  constructor(text) {
    // without the style of a file by itself: here the page's own rules colour it
    this.svg = new DOMParser().parseFromString(text.replace(/<style>.*/, ''), 'image/svg+xml').documentElement;
    this.spots = [...this.svg.querySelectorAll('g title, path title')];
    this.at = -1;
    this.tip = make('p', { class: 'tip', role: 'status' });
    this.element = make('figure', {}, make('div', { class: 'plot', tabindex: 0, role: 'group',
      'aria-label': 'Picture. Arrow keys go from value to value.', onkeydown: (event) => this.key(event),
      onpointermove: (event) => this.show(this.spots.find((spot) => spot.parentNode === event.target)) }, this.svg),
    make('div', { class: 'tools' }, button('Copy SVG', () => copyText(text, 'The picture is copied as SVG.')), this.tip));
  }

  show(spot) {
    if (!spot) return;
    this.shown?.classList.remove('marker');
    this.shown = spot.parentNode;
    this.shown.classList.add('marker');
    this.tip.textContent = spot.textContent;
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !this.spots.length) return;
    event.preventDefault();
    this.at = (this.at + step + this.spots.length) % this.spots.length;
    this.show(this.spots[this.at]);
  }
}
