// The one script, on pages that ask for a password: it shows the password on demand and says that Caps Lock is on.
// Without it these pages do all the rest. Texts are in the page, in its language; nothing is sent or kept.

for (const password of document.querySelectorAll('input[type="password"]')) {
  const box = password.closest('.password');
  addShowButton(password, box.querySelector('button'));
  addCapsLockHint(password, box.querySelector('[data-caps-lock]'));
}

/** The button lets one read what one typed; what is sent is a password again, so that browsers offer to keep it. */
function addShowButton(password, button) {
  const word = button.querySelector('[data-hide]');
  const words = { password: word.textContent, text: word.dataset.hide };
  const turnInto = (type) => {
    const { selectionStart, selectionEnd } = password;
    password.type = type;
    password.getBoundingClientRect(); // it takes a selection only when it is laid out anew
    password.setSelectionRange(selectionStart, selectionEnd);
    word.textContent = words[type];
  };
  button.hidden = false;
  // A press leaves the focus, and the keyboard of a phone, where it is.
  button.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', () => turnInto(password.type === 'password' ? 'text' : 'password'));
  password.form.addEventListener('submit', () => turnInto('password'));
}

/** The hint is a live region; where the browser fills the field by itself, its events know no keys. */
function addCapsLockHint(password, hint) {
  const say = (isOn) => {
    hint.textContent = isOn ? hint.dataset.capsLock : '';
  };
  for (const type of ['keydown', 'keyup', 'mousedown']) {
    password.addEventListener(type, (event) => say(event.getModifierState?.('CapsLock')));
  }
  password.addEventListener('blur', () => say(false));
}
