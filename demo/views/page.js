// Conveniences where scripts run; without them the buttons do the same.

const timer = document.querySelector('[data-seconds]');
if (timer) {
  const end = Date.now() + Number(timer.textContent) * 1000;
  const tick = setInterval(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    timer.textContent = left;
    if (left > 0) return;
    clearInterval(tick);
    document.querySelector('#waiting').hidden = true;
    document.querySelector('#expired').hidden = false;
  }, 1000);
}

for (const button of navigator.clipboard ? document.querySelectorAll('.copy') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.innerText);
    button.textContent = button.dataset.copied;
    button.ariaLabel = null;
  });
}
