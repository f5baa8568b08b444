// Unpacks the page's style before anything is shown.

{
  const style = document.createElement('style');
  style.textContent = new TextDecoder().decode(unpack('style'));
  document.head.append(style);
}
