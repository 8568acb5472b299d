// The only script, on pages with a password field: it shows the password on demand and says that Caps Lock is on.
// The pages work without it. Texts are in the page, in its language; it sends and stores nothing.

for (const password of document.querySelectorAll('input[type="password"]')) {
  const box = password.closest('.password');
  addShowButton(password, box.querySelector('button'));
  addCapsLockHint(password, box.querySelector('[data-caps-lock]'));
}

/** The button shows the typed password. On sending, the field is a password again, so browsers offer to save it. */
function addShowButton(password, button) {
  const word = button.querySelector('[data-hide]');
  const words = { password: word.textContent, text: word.dataset.hide };
  const turnInto = (type) => {
    const { selectionStart, selectionEnd } = password;
    password.type = type;
    password.getBoundingClientRect(); // it accepts a selection only after a new layout
    password.setSelectionRange(selectionStart, selectionEnd);
    word.textContent = words[type];
  };
  button.hidden = false;
  // A press moves neither the focus nor a phone's keyboard.
  button.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', () => turnInto(password.type === 'password' ? 'text' : 'password'));
  password.form.addEventListener('submit', () => turnInto('password'));
}

/** The hint is a live region. A browser that fills the field sends events without keys. */
function addCapsLockHint(password, hint) {
  const say = (isOn) => {
    hint.textContent = isOn ? hint.dataset.capsLock : '';
  };
  for (const type of ['keydown', 'keyup', 'mousedown']) {
    password.addEventListener(type, (event) => say(event.getModifierState?.('CapsLock')));
  }
  password.addEventListener('blur', () => say(false));
}
