// Conveniences where scripts run; without them the buttons do the same.

const choose = (language) => {
  for (const tab of document.querySelectorAll('.tabs input')) tab.checked ||= tab.value === language;
};
choose(sessionStorage.language);
addEventListener('change', ({ target }) => {
  if (!target.closest('.tabs')) return;
  sessionStorage.language = target.value;
  choose(target.value);
});

for (const button of navigator.clipboard ? document.querySelectorAll('.copy') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.innerText);
    button.textContent = button.dataset.copied;
    button.ariaLabel = null;
  });
}
