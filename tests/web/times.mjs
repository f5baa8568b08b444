// How long the page takes, ms.

// Of several runs the least and the median of their times, ms.
export async function timesOf(runs, run) {
  const values = [];
  for (let i = 0; i < runs; i++) values.push(await run());
  values.sort((a, b) => a - b);
  return { least: values[0], median: values[Math.floor(runs / 2)] };
}

export const words = ({ least, median }) => `${median.toFixed(1)} ms (at least ${least.toFixed(1)} ms)`;

// Types over a field, and waits until a new verdict stands there: ms.
export function verdictAfter(tab, field, text) {
  return tab.evaluate(([id, typed]) => new Promise((resolve) => {
    const input = document.getElementById(id);
    const old = document.querySelector('.verdict');
    const start = performance.now();
    const watch = new MutationObserver(() => {
      const verdict = document.querySelector('.verdict');
      if (!verdict || verdict === old) return;
      watch.disconnect();
      resolve(performance.now() - start);
    });
    watch.observe(document.getElementById('answer'), { childList: true, subtree: true });
    input.focus();
    input.value = typed;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }), [field, text]);
}
