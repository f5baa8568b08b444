// The page's style, which it carries compressed: it stands before anything is shown.

{
  const style = document.createElement('style');
  style.textContent = new TextDecoder().decode(unpack('style'));
  document.head.append(style);
}
