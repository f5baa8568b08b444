// The page's other scripts, which it carries compressed: their text has a hash in the policy as this one has.

{
  const script = document.createElement('script');
  script.textContent = new TextDecoder().decode(unpack('scripts'));
  document.body.append(script);
}
