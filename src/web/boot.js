// Unpacks the program, the exercises, the worker's script and the page's other scripts, whose
// text has a hash in the policy as this one has.

const carried = {};
{
  const sizes = document.getElementById('carried').dataset.sizes.split(' ');
  const bytes = unpack('carried');
  for (let i = 0, at = 0; i < sizes.length; i += 2, at += Number(sizes[i - 1]))
    carried[sizes[i]] = bytes.subarray(at, at + Number(sizes[i + 1]));
  const script = document.createElement('script');
  script.textContent = new TextDecoder().decode(carried.scripts);
  document.body.append(script);
}
